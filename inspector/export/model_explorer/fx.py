"""FX graphs of each stage, their nodes in the layers of nn.Modules."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.cost.flops import modules_around
from inspect_compile.export.model_explorer.records import (
    ExplorerGraph,
    GraphNode,
    IncomingEdge,
    attributes,
    label,
    namespace,
    tensor_metadata,
    within,
)
from inspect_compile.facts import DynamoNode, JointNode, Kernel, Lowering, Node
from inspect_compile.graph import Id, grouped
from inspect_compile.tables.text import code_text, one_line, place_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.graph import CompiledGraph

STAGES: Final = {"aot": "AOTAutograd", "post_grad": "after all passes"}
"""Stage of a graph's nodes → its name; others have the stage's own."""
LAST: Final = "post_grad"


def fx_id(graph: str, stage: str) -> str:
    """The id of the graph of one stage."""
    return f"{graph}: FX graph, {STAGES.get(stage, stage)}"


def dynamo_graphs(dump: "Dump", compile_id: str | None) -> Iterator[ExplorerGraph]:
    """Dynamo's graph of a compile, and the joint graphs of forward and backward that AOTAutograd made of it."""
    rows = dump.rows_of_compile(DynamoNode, compile_id)
    if rows:
        yield _graph(f"compile {compile_id}: FX graph, Dynamo", rows)
    joint = grouped(dump.rows_of_compile(JointNode, compile_id), lambda row: row.aot_graph)
    for name, nodes in joint.items():
        yield _graph(f"compile {compile_id}: FX graph, joint {one_line(name)}".rstrip(), nodes)


def fx_graphs(graph: "CompiledGraph") -> Iterator[ExplorerGraph]:
    """The stages of a compiled graph, each followed by the graphs nested in it."""
    kernels: dict[Id, dict[str, None]] = {}
    for kernel in graph.rows(Kernel):
        for name in kernel.nodes:
            kernels.setdefault(Id(kernel.graph, name), {})[kernel.name] = None
    flops = {Id(row.graph, row.node): row.flops for row in graph.rows(Lowering) if row.flops}
    nested = grouped(graph.dump.nested(graph.name), lambda row: row.parent or "")
    stages = grouped(graph.rows(Node), lambda row: (row.stage, row.graph))
    for (stage, name), rows in stages.items():
        inner = {one.name: fx_id(one.graph, stage) for one in nested.get(name, ()) if (stage, one.graph) in stages}
        is_last = stage == LAST
        yield _graph(fx_id(name, stage), rows, kernels if is_last else {}, flops if is_last else {}, inner)


def _graph(
    name: str,
    rows: "Iterable[Node]",
    kernels: dict[Id, dict[str, None]] | None = None,
    flops: dict[Id, int] | None = None,
    inner: dict[str, str] | None = None,
) -> ExplorerGraph:
    classes: dict[str, str] = {}
    nodes = []
    for row in rows:
        layers = modules_around(row.module)
        where = namespace(*(layer.rpartition(".")[2] for layer in layers))
        if layers:
            classes.setdefault(where, one_line(row.module_type))
        nodes.append(_node(row, where, list((kernels or {}).get(Id.of(row), ())), flops or {}, inner or {}))
    attributes_of = {where: {"class": of} for where, of in classes.items() if of}
    return ExplorerGraph(name, within(nodes), attributes_of)


def _node(row: Node, where: str, kernels: list[str], flops: dict[Id, int], inner: dict[str, str]) -> GraphNode:
    is_call = row.op.startswith("call_")
    calls = tuple(inner[name] for name in dict.fromkeys((row.name, *row.inputs)) if name in inner)
    return GraphNode(
        row.name,
        label(row.target.removesuffix(".default") if is_call else row.name),
        where,
        calls,
        attributes(
            name=row.name,
            op=row.op,
            target=row.target,
            arguments=row.arguments,
            line=place_text(row.where),
            code=code_text(row.where),
            module=row.module,
            kernels=", ".join(kernels),
            FLOPs=flops.get(Id.of(row)),
            decomposed_from=row.original_aten,
            comes_from=", ".join(row.origins[:4]),
        ),
        [IncomingEdge(name, target_node_input_id=str(place)) for place, name in enumerate(row.inputs)],
        [tensor_metadata(place, row.name, value) for place, value in enumerate(row.values)],
    )
