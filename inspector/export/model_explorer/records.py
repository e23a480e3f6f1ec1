"""The records of Model Explorer's JSON, as far as they are written here.

Their source are `graph_builder.py` and `node_data_builder.py` of `ai-edge-model-explorer`, whose names these have.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from inspect_compile.facts import Tensor
from inspect_compile.tables.text import one_line

LONGEST: Final = 400
"""Maximum characters of an attribute's value."""


class KeyValue(msgspec.Struct, frozen=True, gc=False):
    """One attribute."""

    key: str
    value: str


class IncomingEdge(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """What a node reads."""

    source_node_id: str
    source_node_output_id: str = "0"
    target_node_input_id: str = "0"


class MetadataItem(msgspec.Struct, frozen=True):
    """What is known of one output; the key `shape` stands at edges, `tensor_name` is its name."""

    id: str
    attrs: list[KeyValue]


class GraphNode(msgspec.Struct, frozen=True, rename="camel"):
    """One node; layers are the parts of its namespace, separated by slashes."""

    id: str
    label: str
    namespace: str = ""
    subgraph_ids: tuple[str, ...] = ()
    attrs: list[KeyValue] = []
    incoming_edges: list[IncomingEdge] = []
    outputs_metadata: list[MetadataItem] = []


class ExplorerGraph(msgspec.Struct, frozen=True, rename="camel"):
    """One graph. An edge may only come from a node of the same graph: the viewer stops at others."""

    id: str
    nodes: list[GraphNode]
    group_node_attributes: dict[str, dict[str, str]] = {}
    """Namespace → what is said of it; the empty one is the whole graph."""


class GraphCollection(msgspec.Struct, frozen=True, rename="camel"):
    """What a file holds."""

    label: str
    graphs: list[ExplorerGraph]


class NodeDataResult(msgspec.Struct, frozen=True, gc=False):
    """The value of one node."""

    value: float


class GradientItem(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """A colour between the smallest value, 0, and the largest, 1."""

    stop: float
    bg_color: str


class GraphNodeData(msgspec.Struct, frozen=True, rename="camel"):
    """Values of the nodes of one graph; a file has them by the graph's id."""

    name: str
    results: dict[str, NodeDataResult]
    gradient: tuple[GradientItem, ...]
    hide_in_aggregated_stats_table: bool = False
    hide_in_children_stats_table: bool = False
    """For values that do not add up."""


def attributes(**given: str | int | None) -> list[KeyValue]:
    """Attributes with a value, an underscore in a name as a blank."""
    return [
        KeyValue(name.replace("_", " "), _cut(str(value)))
        for name, value in given.items()
        if value is not None and value != ""
    ]


def _cut(text: str) -> str:
    text = one_line(text[: 4 * LONGEST])
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def label(text: str) -> str:
    """What stands on a node."""
    return _cut(text) or "?"


def namespace(*parts: str) -> str:
    """A path of layers. A slash in a part does not divide it."""
    return "/".join(_cut(part).replace("/", "∕") for part in parts if part)


def tensor_metadata(place: int, name: str, tensor: Tensor) -> MetadataItem:
    """What is known of an output that is a tensor."""
    pairs = attributes(
        tensor_name=name,
        shape=f"{tensor.dtype} {'×'.join(map(str, tensor.size)) or 'scalar'}",
        stride=", ".join(map(str, tensor.stride)),
        bytes=tensor.bytes,
        device=tensor.device,
    )
    return MetadataItem(str(place), [KeyValue(one.key.replace(" ", "_"), one.value) for one in pairs])


def within(nodes: Iterable[GraphNode]) -> list[GraphNode]:
    """The nodes, each id once, without edges that come from none of them."""
    found = {node.id: node for node in nodes}
    return [
        msgspec.structs.replace(
            node, incoming_edges=[edge for edge in node.incoming_edges if edge.source_node_id in found]
        )
        for node in found.values()
    ]
