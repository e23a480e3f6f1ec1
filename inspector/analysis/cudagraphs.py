"""What became of the functions that may run as CUDA graphs, in the order in which they were first run."""

from collections import Counter

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import CudaGraph


class Again(msgspec.Struct, frozen=True):
    """Why a function was recorded again, and how often for that."""

    why: str
    count: int
    inputs: tuple[str, ...]
    where: str | None


def cudagraphs(dump: Dump, graph: str | None = None) -> list[CudaGraph]:
    """The last row of each function; graphs that were never handed over come where they were compiled."""
    last: dict[tuple[int, str], CudaGraph] = {}
    for row in dump.rows(CudaGraph):
        last[row.number, row.graph if row.number < 0 else ""] = row
    return [row for row in last.values() if graph is None or row.graph.partition("/")[0] == graph]


def again(row: CudaGraph) -> list[Again]:
    """The recordings after the first one, by torch's reason."""
    more = [one for one in row.recordings if one.why != "first"]
    first = {one.why: one for one in reversed(more)}
    return [Again(why, n, first[why].inputs, first[why].where) for why, n in Counter(one.why for one in more).items()]


def state(row: CudaGraph) -> str:
    """In a word: replayed, recorded, warmed up, or skipped."""
    if row.replayed:
        return "replayed"
    if row.recorded:
        return "recorded"
    return "skipped" if row.skipped else "warmed up" if row.warmups else "not run"
