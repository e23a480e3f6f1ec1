"""The path of a graph from Dynamo to the callable that runs: which function called which."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Final

import msgspec

from inspect_compile.facts import Call
from inspect_compile.graph import CompiledGraph, Graphs, grouped

_INDEX: Final = attrgetter("index")
LATER = "backward"
"""The stage of a call without a caller: AOTAutograd compiles a backward when the program first needs it."""


class CallRow(Call, frozen=True, kw_only=True, tag="call_row"):
    """One call and its place in the tree of calls. `show calls --json` prints these."""

    depth: int
    """Number of its callers."""


def call_path(graph: CompiledGraph) -> tuple[Call, ...]:
    """All calls of the compile that made Inductor's graph `graph`, in order, including those of its backward."""
    found = graph.dump.graph(graph.name)
    if found is None:
        return ()
    if found.compile_id is not None:
        return tuple(sorted(graph.dump.rows_of_compile(Call, found.compile_id), key=_INDEX))
    calls = sorted(graph.dump.rows_of_compile(Call, ""), key=_INDEX)  # no frame of Dynamo: torch.export, AOTInductor
    roots = _roots(calls)
    meant = {roots[call.index] for call in calls if call.inductor_graph == found.graph}
    return tuple(call for call in calls if roots[call.index] in meant)


def tree(calls: Iterable[Call]) -> list[CallRow]:
    """The same calls with their depths. A call whose caller was not recorded is at the top."""
    depths: dict[int, int] = {}
    found = []
    for call in calls:
        depth = 0 if call.parent is None else depths.get(call.parent, -1) + 1
        depths[call.index] = depth
        found.append(CallRow(depth=depth, **msgspec.structs.asdict(call)))
    return found


def call_rows(graphs: Graphs) -> dict[str, list[CallRow]]:
    """Compile id → its calls, in the order in which the compiles began; only of the compile that made `graph`."""
    calls = sorted(graphs.of_compiles(Call), key=_INDEX)
    return {compile_id: tree(found) for compile_id, found in grouped(calls, lambda call: call.graph).items()}


def _roots(calls: list[Call]) -> dict[int, int]:
    """Index of a call → index of its outermost caller."""
    roots: dict[int, int] = {}
    for call in calls:
        roots[call.index] = call.index if call.parent is None else roots.get(call.parent, call.index)
    return roots
