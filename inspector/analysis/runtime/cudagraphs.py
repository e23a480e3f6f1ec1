"""What became of the functions that may run as CUDA graphs, in the order of their first run."""

from typing import Final

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import CudaGraph, Node, Recording

_NEAR: Final = 3
"""Maximum steps from an input to an operation with a source line: a parameter may be transposed first."""


class Again(msgspec.Struct, frozen=True):
    """Why a function was recorded again, and how often."""

    why: str
    count: int
    inputs: tuple[str, ...]
    where: str | None


def cudagraphs(dump: Dump, graph: str | None = None) -> list[CudaGraph]:
    """The last row of each function; graphs that never reached CUDA graphs are placed where they were compiled."""
    last: dict[tuple[int, str], CudaGraph] = {}
    for row in dump.rows(CudaGraph, graph):
        last[row.number, row.graph if row.number < 0 else ""] = row
    return list(last.values())


def again(dump: Dump, row: CudaGraph) -> list[Again]:
    """The recordings after the first, by torch's reason."""
    found: dict[str, list[Recording]] = {}
    for one in row.recordings:
        if one.why != "first":
            found.setdefault(one.why, []).append(one)
    told = []
    for why, more in found.items():
        inputs = tuple(dict.fromkeys(name for one in more for name in one.inputs))
        where = next((one.where for one in more if one.where), None)
        told.append(Again(why, len(more), inputs, where or _used_at(dump, row.graph, inputs)))
    return told


def _used_at(dump: Dump, graph: str, inputs: tuple[str, ...]) -> str | None:
    """Source line of the first operation that reads one of the inputs: a parameter has no line itself."""
    if not (graph and inputs):
        return None
    nodes = {node.name: node for node in dump.rows(Node, graph) if node.graph == graph and node.stage == "aot"}
    near = list(inputs)
    for _ in range(_NEAR):
        near = [user for name in near if name in nodes for user in nodes[name].users]
        for name in near:
            if name in nodes and (where := nodes[name].where) is not None:
                return f"{where.file}:{where.line}"
    return None


def has_parts(rows: list[CudaGraph]) -> set[str]:
    """The graphs that were partitioned."""
    return {row.graph for row in rows if row.partition}


def state(row: CudaGraph) -> str:
    """One word: replayed, recorded, warmed up or skipped."""
    if row.replayed:
        return "replayed"
    if row.recorded:
        return "recorded"
    return "skipped" if row.skipped else "warmed up" if row.warmups else "not run"
