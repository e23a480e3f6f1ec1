"""What became of the functions that may run as CUDA graphs, in the order of their first run."""

from typing import Final

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import CudaGraph, Node
from inspect_compile.graph import CompiledGraph, Graphs, grouped, shared_fields

_NEAR: Final = 3
"""Maximum steps from an input to an operation with a source line: a parameter may be transposed first."""


class Again(msgspec.Struct, frozen=True):
    """Why a function was recorded again, and how often."""

    why: str
    count: int
    inputs: tuple[str, ...]
    """The inputs that the reason is about."""
    where: str | None
    """Source line of the reason, else of the first operation that reads one of the inputs."""


class CudagraphRow(msgspec.Struct, frozen=True, tag_field="fact", tag="cudagraph_row"):
    """One function that may run as a CUDA graph, and what became of it."""

    graph: str
    """The compiled graph; empty if it is none."""
    number: int
    """As in `CudaGraph.number`."""
    driver: str
    device: int | None
    mode: str
    """forward, backward or inference."""
    partition: int | None
    """Number of the partition; None of a graph that is in one piece."""
    sizes: tuple[int, ...]
    """The integers among the inputs: each set of them is recorded separately."""
    state: str
    """`replayed`, `recorded`, `skipped`, `warmed up` or `not run`."""
    warmups: int
    recorded: int
    replayed: int
    again: tuple[Again, ...]
    """The recordings after the first, by reason."""
    unlisted: int
    """Recordings of which only the number is known."""
    skipped: str
    """Why it does not run as a CUDA graph."""
    is_on_cpu: bool
    """It runs on a CPU alone: nothing that a program changes would make it one."""
    where: str | None
    """Source line of the cause; of the program's own capture the line that captures."""
    pool_bytes: int | None
    """Bytes of the device's CUDA graph pool after the last recording."""


def cudagraphs(graphs: Graphs) -> list[CudaGraph]:
    """The last row of each function; graphs that never reached CUDA graphs are placed where they were compiled."""
    last: dict[tuple[int, str], CudaGraph] = {}
    for row in graphs.rows(CudaGraph):
        last[row.number, row.graph if row.number < 0 else ""] = row
    return list(last.values())


def cudagraph_rows(graphs: Graphs) -> list[CudagraphRow]:
    """One row for each function, in the order of `cudagraphs`."""
    found = cudagraphs(graphs)
    cut = {row.graph for row in found if row.partition}
    return [
        CudagraphRow(
            **shared_fields(row, CudagraphRow, "partition"),
            partition=row.partition if row.graph in cut else None,
            state=state(row),
            again=tuple(again(graphs.dump, row)),
            unlisted=max(0, row.recorded - len(row.recordings)),
        )
        for row in found
    ]


def again(dump: Dump, row: CudaGraph) -> list[Again]:
    """The recordings after the first, by torch's reason."""
    rows = []
    for why, more in grouped((one for one in row.recordings if one.why != "first"), lambda one: one.why).items():
        inputs = tuple(dict.fromkeys(name for one in more for name in one.inputs))
        where = next((one.where for one in more if one.where), None)
        rows.append(Again(why, len(more), inputs, where or _used_at(CompiledGraph(dump, row.graph), inputs)))
    return rows


def _used_at(graph: CompiledGraph, inputs: tuple[str, ...]) -> str | None:
    """Source line of the first operation that reads one of the inputs: a parameter has no line itself."""
    if not (graph.name and inputs):
        return None
    nodes = {node.name: node for node in graph.rows(Node) if node.graph == graph.name and node.stage == "aot"}
    near = list(inputs)
    for _ in range(_NEAR):
        near = [user for name in near if name in nodes for user in nodes[name].users]
        for name in near:
            if name in nodes and (where := nodes[name].where) is not None:
                return f"{where.file}:{where.line}"
    return None


def state(row: CudaGraph) -> str:
    """One word: replayed, recorded, warmed up or skipped."""
    if row.replayed:
        return "replayed"
    if row.recorded:
        return "recorded"
    return "skipped" if row.skipped else "warmed up" if row.warmups else "not run"
