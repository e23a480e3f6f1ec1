"""What a dump knows of a graph that is to be compiled again, and the graph's text does not say."""

import re
from collections.abc import Mapping
from typing import Any, Final

from inspect_compile.dump import paths
from inspect_compile.facts import Artifact, DynamoNode, Lowering, Node, Tensor, WrapperLine
from inspect_compile.graph import CompiledGraph

_ITEMS: Final = re.compile(r"%\w+|\bNone\b")
"""The outputs in the text of an output node's arguments."""
_OF_MODULE: Final = re.compile(r"_(?:parameters|buffers)_")
"""Part of Dynamo's name of an input that belongs to an nn.Module, and so keeps its address."""
_UNBACKED: Final = re.compile(r"\bu(\d+)\b")
_OWN: Final = re.compile(
    r"^(?!aten\.|prims\.|_c10d_functional\.)\w+\.\w+\.\w+$|"
    r"\b(?:auto_functionalized_v2|triton_kernel_wrapper_functional)$"
)
"""Operators that may be none of torch's."""
_GETITEM: Final = "operator.getitem"
_METADATA: Final = "aot_forward_graph_fw_metadata"
_DONATED: Final = re.compile(r"\bbw_donated_idxs=\[([\d, \n]{0,100000})\]")
_CHECKED: Final = re.compile(r"\bcopy_if_misaligned\((\w+)\)")


def known(graph: CompiledGraph) -> dict[str, Any]:
    """Plain values, under the names in `lowering/intervention/replay/known.py`."""
    name = graph.name
    everywhere = {_path(node, name): node for node in graph.rows(Node) if node.stage == "aot"}
    nodes = [node for node in everywhere.values() if node.graph == name]
    return {
        "graph": name,
        "kind": graph.fact.kind,
        "compile_id": graph.fact.compile_id or "",
        "operators": graph.fact.operators,
        "own": _own(everywhere),
        "attributes": {
            node.name: _text(node.values[0])
            for node in nodes
            if (node.op == "get_attr" or node.target.endswith("getattr")) and node.values
        },
        "visible": _visible(graph, nodes),
        "unbacked": sorted({int(number) for node in nodes for number in _UNBACKED.findall(_sizes(node))}),
        "static": _static(graph, nodes),
        "donated": _donated(graph, nodes),
        "originals": {path: node.original_aten for path, node in everywhere.items() if node.original_aten},
        "origins": {path: node.origins for path, node in everywhere.items() if node.origins},
        "stacks": {path: _stack(node) for path, node in everywhere.items() if node.where is not None},
        "modules": {path: (node.module, node.module_type) for path, node in everywhere.items() if node.module},
        "backward": [path for path, node in everywhere.items() if node.is_backward],
        "first": _before_inputs(nodes),
    }


def _own(nodes: Mapping[str, Node]) -> dict[str, Any]:
    """What calls of operators that are not ATen's or Inductor's return, and which of their arguments are tensors."""
    found = {}
    for path, node in nodes.items():
        if node.op != "call_function" or not _OWN.search(node.target):
            continue
        prefix = path.removesuffix(node.name)
        users = [user for name in node.users if (user := nodes.get(prefix + name)) is not None]
        parts = [user for user in users if user.target.endswith(_GETITEM)]
        if parts:
            outputs = {user.arguments.rpartition(", ")[2]: value for user in parts for value in user.values[:1]}
        else:
            outputs = dict.fromkeys(("",), node.values[0]) if node.values else {}
        found[path] = {
            "outputs": {key: _text(value) for key, value in outputs.items()},
            "tensors": [name for name in node.inputs if (read := nodes.get(prefix + name)) and read.values],
            "is_read": bool(node.users),
        }
    return found


def _text(value: Tensor) -> tuple[str, tuple[int | str, ...], tuple[int | str, ...], str]:
    return value.dtype, value.size, value.stride, value.device


def _path(node: Node, graph: str) -> str:
    """`add`, or `true_graph_0/add` in a nested graph."""
    nested = node.graph.removeprefix(graph).removeprefix("/")
    return f"{nested}/{node.name}" if nested else node.name


def _before_inputs(nodes: list[Node]) -> list[str]:
    """The nodes up to the last input, if others are among them: AOTAutograd creates its tokens first."""
    last = max((index for index, node in enumerate(nodes) if node.op == "placeholder"), default=-1)
    leading = nodes[: last + 1]
    return [node.name for node in leading] if any(node.op != "placeholder" for node in leading) else []


def _visible(graph: CompiledGraph, nodes: list[Node]) -> list[int]:
    """Positions of the outputs of a forward graph that the program receives.

    Mutated inputs come before them, and what is saved for the backward after them.
    """
    output = next((node for node in nodes if node.op == "output"), None)
    of_dynamo = [row for row in graph.dump.rows_of_compile(DynamoNode, graph.fact.compile_id) if row.op == "output"]
    if graph.fact.kind != "forward" or output is None or not of_dynamo:
        return []
    count = len(_ITEMS.findall(output.arguments))
    wanted = len(_ITEMS.findall(of_dynamo[-1].arguments))
    names = {node.name for node in nodes}
    start = 0
    for other in graph.dump.graphs_of_compile(graph.fact.compile_id):
        if other.kind == "backward":
            rows = [
                row for row in graph.dump.rows(Node, other.graph) if row.graph == other.graph and row.stage == "aot"
            ]
            kept = sum(row.op == "placeholder" and row.name in names for row in rows)
            start = max(0, count - wanted - kept)
    return list(range(start, min(start + wanted, count)))


def _static(graph: CompiledGraph, nodes: list[Node]) -> list[str]:
    """Inputs that a GPU uses as they are; of others the generated code ensures that they are aligned."""
    inputs = [node.name for node in nodes if node.op == "placeholder"]
    if "cuda" in graph.fact.device:
        code = graph.text(f"{paths.OUTPUT_CODE}.py") or ""
        checked = set(_CHECKED.findall(code))
        return [name for name in inputs if name not in checked]
    if graph.fact.kind == "backward":
        return [name for name in inputs if not name.startswith("tangents")]
    rows = graph.dump.rows_of_compile(DynamoNode, graph.fact.compile_id)
    of_dynamo = [row.name for row in rows if row.op == "placeholder"]
    if len(of_dynamo) != len(inputs):
        return []
    return [name for name, earlier in zip(inputs, of_dynamo, strict=True) if _OF_MODULE.search(earlier)]


def _donated(graph: CompiledGraph, nodes: list[Node]) -> list[str]:
    """Inputs of a backward graph whose memory it may reuse: as they were lowered, else as AOTAutograd's metadata or the
    generated code in a log say.
    """
    lowered = [row for row in graph.rows(Lowering) if row.way == "placeholder"]
    if lowered or graph.fact.kind != "backward":
        return [row.node for row in lowered if "DonatedBuffer(" in row.result]
    inputs = [node.name for node in nodes if node.op == "placeholder"]
    for row in graph.dump.rows_of_compile(Artifact, graph.fact.compile_id):
        if row.name == _METADATA and (found := _DONATED.search(row.text)) is not None:
            indices = [int(index) for index in found[1].split(",") if index.strip()]
            return [inputs[index] for index in indices if index < len(inputs)]
    reused = {row.buffer for row in graph.alone(WrapperLine) if row.what == "reuse"}
    return [name for name in inputs if name in reused]


def _sizes(node: Node) -> str:
    return " ".join(str(size) for value in node.values for size in value.size)


def _stack(node: Node) -> str:
    assert node.where is not None
    frames = reversed(tuple(node.where.calls()))
    return "".join(f'  File "{one.file}", line {one.line}, in {one.function}\n    {one.code}\n' for one in frames)
