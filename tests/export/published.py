"""The JSON that Model Explorer reads, as `ai-edge-model-explorer` 0.1.34 describes it: its records, fields and types.

What the viewer can also read and we do not write (overlays, layouts) is left out. `test_the_form_is_the_published_one`
holds these against the package where it is installed.
"""

from typing import Any, Literal

import msgspec

Record = dict[str, Any]


class KeyValue(msgspec.Struct, forbid_unknown_fields=True):
    key: str
    value: str | Record


class MetadataItem(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    attrs: list[KeyValue] = []


class IncomingEdge(msgspec.Struct, forbid_unknown_fields=True):
    sourceNodeId: str
    sourceNodeOutputId: str = "0"
    targetNodeInputId: str = "0"


class GraphNode(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    label: str
    namespace: str = ""
    subgraphIds: list[str] = []
    attrs: list[KeyValue] = []
    incomingEdges: list[IncomingEdge] = []
    outputsMetadata: list[MetadataItem] = []
    inputsMetadata: list[MetadataItem] = []


class Graph(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    nodes: list[GraphNode] = []
    groupNodeAttributes: dict[str, dict[str, str]] | None = None


class GraphCollection(msgspec.Struct, forbid_unknown_fields=True):
    label: str
    graphs: list[Graph] = []
    graphSorting: Literal["name_asc", "name_desc"] | None = None


class NodeDataResult(msgspec.Struct, forbid_unknown_fields=True):
    value: float
    bgColor: str | None = None
    textColor: str | None = None


class GradientItem(msgspec.Struct, forbid_unknown_fields=True):
    stop: float
    bgColor: str | None = None
    textColor: str | None = None


class GraphNodeData(msgspec.Struct, forbid_unknown_fields=True):
    results: dict[str, NodeDataResult]
    name: str | None = None
    gradient: list[GradientItem] = []
    hideInAggregatedStatsTable: bool = False
    hideInChildrenStatsTable: bool = False


RECORDS: dict[str, tuple[type[msgspec.Struct], ...]] = {
    "graph_builder": (KeyValue, MetadataItem, IncomingEdge, GraphNode, Graph, GraphCollection),
    "node_data_builder": (NodeDataResult, GradientItem, GraphNodeData),
}
"""Module of the package → the records that it describes."""


def read(data: bytes, kind: Any) -> Any:
    """The record of that kind; fails where the data has another type, or a field that the kind does not have."""
    return msgspec.json.decode(data, type=kind, strict=True)
