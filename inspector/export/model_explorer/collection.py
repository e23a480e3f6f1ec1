"""Everything of a dump that Model Explorer can show: the graphs, and figures as custom node data."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from inspect_compile.analysis.cost.launch_figures import FIGURES
from inspect_compile.diagrams.schedule.units import schedule
from inspect_compile.export.model_explorer.fx import LAST, dynamo_graphs, fx_graphs, fx_id
from inspect_compile.export.model_explorer.records import (
    ExplorerGraph,
    GradientItem,
    GraphCollection,
    GraphNodeData,
    NodeDataResult,
)
from inspect_compile.export.model_explorer.schedule import Scheduled
from inspect_compile.facts import Lowering
from inspect_compile.graph import CompiledGraph

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLOURS: Final = (GradientItem(0.0, "#fff7ec"), GradientItem(0.5, "#fdbb84"), GradientItem(1.0, "#d7301f"))
"""From the least to the most."""

NodeData = dict[str, GraphNodeData]
"""Id of a graph → the values of its nodes."""


class Explored(NamedTuple):
    """What is written."""

    collection: GraphCollection
    data: dict[str, NodeData]
    """Name of the figures → values; those of which nothing is known are left out."""


def explored(dump: "Dump", graphs: Sequence[CompiledGraph], label: str) -> Explored:
    """The FX graphs of each stage and the schedule of these outermost graphs."""
    found: list[ExplorerGraph] = []
    data: dict[str, NodeData] = {}
    for compile_id in dict.fromkeys(graph.fact.compile_id for graph in graphs):
        found += dynamo_graphs(dump, compile_id)
    for graph in graphs:
        found += fx_graphs(graph)
        figures = {name: known for name, of in FIGURES.items() if (known := of(graph)).of}
        whole = schedule(graph, "post_fusion")
        if not whole.units:
            continue
        scheduled = Scheduled(graph, whole, figures)
        found += scheduled.operations(), scheduled.launches()
        for name, known in figures.items():
            operations, launches = scheduled.values(known)
            of_launch = f"{known.what}, of the launch that runs it"
            own = data.setdefault(name, {})
            own[scheduled.operations_id] = _data(of_launch, operations, adds_up=False)
            own[scheduled.launches_id] = _data(known.what, launches, adds_up=name != "registers")
        data.setdefault("flops", {}).update(_flops_of_nodes(graph))
    return Explored(GraphCollection(label, found), {name: own for name, own in data.items() if own})


def _flops_of_nodes(graph: "CompiledGraph") -> Iterator[tuple[str, GraphNodeData]]:
    values: dict[str, dict[str, float]] = {}
    for row in graph.rows(Lowering):
        if row.flops:
            values.setdefault(row.graph, {})[row.node] = row.flops
    for name, own in values.items():
        yield fx_id(name, LAST), _data("FLOPs", own, adds_up=True)


def _data(name: str, values: dict[str, float], *, adds_up: bool) -> GraphNodeData:
    results = {node: NodeDataResult(value) for node, value in values.items()}
    return GraphNodeData(name, results, _COLOURS, not adds_up, not adds_up)
