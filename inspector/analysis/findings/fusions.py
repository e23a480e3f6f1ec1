"""Missed fusions: two launches that go over the same values, and that somebody could join."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.cost.kernel_traffic import LaunchTraffic, launch_traffic
from inspect_compile.analysis.dumps.rows import scheduled
from inspect_compile.analysis.findings.copies import avoidable
from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.findings.trials import trial_of
from inspect_compile.analysis.fusion.misses import Miss
from inspect_compile.analysis.fusion.outcome import left_apart
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph, Operation
from inspect_compile.knowledge.fusion.knob_values import knob_of
from inspect_compile.knowledge.fusion.reasons import by_code
from inspect_compile.knowledge.overview.findings import APART_HANDED, APART_READ, MISSED_FUSION, WORDS

_LEAST: Final = 1024
"""Fewer bytes than this are no finding."""
_ORDERS: Final = ("no-shared-data", "indexing-mismatch", "memory-deps-mismatch", "backend-refused")
"""Reasons that say that the two go over a buffer in different orders, or in loops of different shapes."""
_SIZES: Final = "backend-refused"
_JOINS: Final = "cat"
_FLIP: Final = "aten.flip"
_SCANS: Final = ("aten.cumsum", "aten.cumprod", "aten.logcumsumexp")
"""Operators of which autograd turns the gradient around, adds it up, and turns the sums back."""


def found(dump: Dump, graphs: list[Graph], costs: Costs) -> Iterator[Finding]:
    """One for each pair that a change of the program or a setting could join."""
    for graph in graphs:
        moved = launch_traffic(dump, graph.graph)
        reducing, scattered = _reducing(dump, graph.graph), _scattered(dump, graph.graph)
        copies = {(copy.row.graph, copy.row.name) for copy in avoidable(dump, graph)}
        launches = {(one.graph, name): one for one in moved.launches for name in one.groups}
        told: set[tuple[str, str, str]] = set()
        for miss in left_apart(dump, graph.graph):
            if miss.saved_bytes < _LEAST or not can_act(miss) or _is_of_reductions(miss, moved, reducing):
                continue
            if graph.kind == "backward" and _is_of_scans(miss, moved):
                continue
            if _is_scatter(miss, moved, scattered) or not copies.isdisjoint(
                ((miss.graph, miss.a), (miss.graph, miss.b))
            ):
                continue  # without a copy, which is a finding of its own, there is no pair
            reason = by_code(miss.code)
            knob = knob_of(reason, is_sharing=True) if reason is not None else ""
            trial = trial_of(dump, graph.graph, knob)
            if reason is not None and not reason.advice and trial is not None and not trial.is_changed:
                continue
            if miss.code == _SIZES and any(part.operator == _JOINS for part in miss.parts):
                continue  # a loop over all parts has another size than one over a part, however these are written
            saved = {(miss.graph, miss.b, buffer) for buffer in miss.buffers}
            if saved <= told:  # what the later of the two need not read is told of it and another one
                continue
            told |= saved
            both = [launches[miss.graph, name] for name in (miss.a, miss.b) if (miss.graph, name) in launches]
            cost = costs.of_bytes(miss.saved_bytes, both)
            yield Finding(
                kind=MISSED_FUSION,
                graph=miss.graph,
                what=WORDS[APART_HANDED if miss.handed else APART_READ].what,
                parts=miss.parts,
                seconds=cost.seconds,
                sure=cost.sure,
                calls=cost.timed,
                bytes=miss.saved_bytes,
                is_bound=miss.is_unsure,
                why=reason.meaning if reason is not None else miss.reason,
                to_do=reason.advice if reason is not None else "",
                knob=knob,
                trial=trial,
                names=(miss.a, miss.b),
                buffers=miss.buffers,
            )


def can_act(miss: Miss) -> bool:
    """False if something must run between the two, so that one kernel would be wrong, or if nothing can be done about
    the reason.
    """
    if miss.between:
        return False
    reason = by_code(miss.code)
    return reason is None or bool(reason.advice or knob_of(reason, is_sharing=True))


def _reducing(dump: Dump, graph: str) -> dict[tuple[str, str], Operation]:
    """(graph, operation) → the reductions among the scheduler nodes before fusion."""
    rows = scheduled(dump, graph)
    return {(row.graph, member): row for row in rows if row.kind == "reduction" for member in row.members}


def _scattered(dump: Dump, graph: str) -> dict[tuple[str, str], frozenset[str]]:
    """(graph, operation) → the buffers that it takes as a whole, because it writes or adds to one of them at places
    which are known when it runs.
    """
    return {
        (row.graph, member): frozenset(access.buffer for access in row.reads if access.kind == "star")
        for row in scheduled(dump, graph)
        if any(access.into for access in row.writes)
        for member in row.members
    }


def _is_scatter(miss: Miss, moved: LaunchTraffic, scattered: dict[tuple[str, str], frozenset[str]]) -> bool:
    """True if the one makes what the other scatters into: all of it must be there before, whatever the order."""
    for name in (miss.a, miss.b):
        group = moved.groups.after.get((miss.graph, name))
        for member in () if group is None else group.members:
            if not scattered.get((miss.graph, member), frozenset()).isdisjoint(miss.buffers):
                return True
    return False


def _is_of_scans(miss: Miss, moved: LaunchTraffic) -> bool:
    """True if the orders differ because autograd turns around what the one of the two makes or reads: the gradient of a
    cumulative sum is one from the other end, which a program does not choose.
    """
    if miss.code not in _ORDERS:
        return False
    nodes = moved.groups.nodes
    for name in (miss.a, miss.b):
        group = moved.groups.after.get((miss.graph, name))
        for one in () if group is None else group.nodes:
            node = nodes.get((miss.graph, one))
            if node is not None and (node.original_aten or node.target).startswith(_FLIP):
                beside = (nodes.get((miss.graph, other)) for other in (*node.inputs, *node.users))
                if any(other is not None and other.target.startswith(_SCANS) for other in beside):
                    return True
    return False


def _is_of_reductions(miss: Miss, moved: LaunchTraffic, reducing: dict[tuple[str, str], Operation]) -> bool:
    """True if the orders differ because one of the two reduces what they share over some axes, as the sum for the
    gradient of a bias does: the program says which axes, and no layout makes them the other's order.
    """
    if miss.code not in _ORDERS:
        return False
    for name in (miss.a, miss.b):
        group = moved.groups.after.get((miss.graph, name))
        for member in () if group is None else group.members:
            row = reducing.get((miss.graph, member))
            if row is not None and any(access.buffer in miss.buffers for access in row.reads):
                return True
    return False
