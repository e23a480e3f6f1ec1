"""Missed fusions: two launches that go over the same values, and that somebody could join."""

from collections.abc import Iterator, Mapping
from typing import Final

from inspect_compile.analysis.findings.attention import composed
from inspect_compile.analysis.findings.copies import avoidable
from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import LEAST_BYTES, Finding
from inspect_compile.analysis.findings.trials import trial_of
from inspect_compile.analysis.fusion.misses import Miss
from inspect_compile.analysis.fusion.outcome import left_apart
from inspect_compile.dump import Dump
from inspect_compile.facts import Access, Operation
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.graph.cost.kernel_traffic import LaunchTraffic
from inspect_compile.graph.indexing.difference import differences
from inspect_compile.knowledge.fusion.knob_values import knob_of
from inspect_compile.knowledge.fusion.reasons import by_code
from inspect_compile.knowledge.overview.findings import APART_HANDED, APART_READ, MISSED_FUSION, WORDS

_ORDERS: Final = ("no-shared-data", "indexing-mismatch", "memory-deps-mismatch", "backend-refused")
"""Reasons that say that the two go over a buffer in different orders, or in loops of different shapes."""
_SIZES: Final = "backend-refused"
_LOADED: Final = "tmp"
"""In an index: a value that was loaded."""
_REPEATED: Final = "broadcast"
_JOINS: Final = "cat"
_FLIP: Final = "aten.flip"
_SCANS: Final = ("aten.cumsum", "aten.cumprod", "aten.logcumsumexp")
"""Operators of which autograd turns the gradient around, adds it up, and turns the sums back."""


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """One for each pair that a change of the program or a setting could join."""
    for graph in graphs:
        moved = graph.traffic
        before = {Id(row.graph, member): row for row in graph.operations for member in row.members}
        reducing = {place: row for place, row in before.items() if row.kind == "reduction"}
        scattered = _scattered(before)
        copies = {Id.of(copy.row) for copy in avoidable(graph)}
        launches = {Id(one.graph, name): one for one in moved.launches for name in one.groups}
        attention = composed.nodes_of(graph)
        covered: set[tuple[str, str, str]] = set()
        for miss in left_apart(graph):
            if miss.saved_bytes < LEAST_BYTES or not can_act(miss) or _is_of_reductions(miss, moved, reducing):
                continue
            if graph.fact.kind == "backward" and (_is_of_scans(miss, moved) or _is_of_one_operator(miss)):
                continue
            if _is_of_repeats(miss, moved, before) or {Id(miss.graph, part.node) for part in miss.parts} <= attention:
                continue
            if _is_scatter(miss, moved, scattered) or not copies.isdisjoint(
                (Id(miss.graph, miss.a), Id(miss.graph, miss.b))
            ):
                continue  # without a copy, which is a finding of its own, there is no pair
            reason = by_code(miss.code)
            knob = knob_of(reason, is_sharing=True) if reason is not None else ""
            trial = trial_of(graph, knob)
            if reason is not None and not reason.advice and trial is not None and not trial.is_changed:
                continue
            if miss.code == _SIZES and any(part.operator == _JOINS for part in miss.parts):
                continue  # a loop over all parts has another size than one over a part, however these are written
            saved = {(miss.graph, miss.b, buffer) for buffer in miss.buffers}
            if saved <= covered:  # findings before it save these reads already
                continue
            covered |= saved
            both = [launches[Id(miss.graph, name)] for name in (miss.a, miss.b) if Id(miss.graph, name) in launches]
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


def _scattered(before: Mapping[Id, Operation]) -> dict[Id, frozenset[str]]:
    """The buffers that an operation takes as a whole, because it writes or adds to one of them at places which are
    known when it runs, and what it has made of them.
    """
    return {
        place: frozenset(
            (
                *(access.buffer for access in row.reads if access.kind == "star"),
                *(access.buffer for access in row.writes if access.into and _LOADED in (access.index or "")),
            )
        )
        for place, row in before.items()
        if any(access.into for access in row.writes)
    }


def _is_scatter(miss: Miss, moved: LaunchTraffic, scattered: Mapping[Id, frozenset[str]]) -> bool:
    """True if the one makes what the other scatters into, or reads what it has made: all of it must be there before,
    whatever the order.
    """
    for name in (miss.a, miss.b):
        group = moved.groups.after.get(Id(miss.graph, name))
        for member in () if group is None else group.members:
            if not scattered.get(Id(miss.graph, member), frozenset()).isdisjoint(miss.buffers):
                return True
    return False


def _is_of_one_operator(miss: Miss) -> bool:
    """True if both are of what autograd makes of one operator of the program, whose formula nobody can change."""
    places = {(part.operator, part.where and (part.where.file, part.where.line)) for part in miss.parts}
    return len(miss.parts) > len(places) == 1 and None not in {where for _, where in places}


def _is_of_repeats(miss: Miss, moved: LaunchTraffic, before: Mapping[Id, Operation]) -> bool:
    """True if the one goes over each element of what they share several times, as where it is expanded, and the other
    once: in no layout are these one loop.
    """
    if miss.code not in _ORDERS:
        return False
    one, other = (_shared(miss, name, moved, before) for name in (miss.a, miss.b))
    found = differences(one, other)
    return bool(found) and all(difference.kind == _REPEATED for difference in found)


def _shared(miss: Miss, name: str, moved: LaunchTraffic, before: Mapping[Id, Operation]) -> list[Access]:
    """How the scheduler nodes before fusion that are in one after it touch what the pair shares."""
    group = moved.groups.after.get(Id(miss.graph, name))
    rows = (
        []
        if group is None
        else [before[key] for key in (Id(miss.graph, one) for one in group.members) if key in before]
    )
    return [access for row in rows for access in (*row.reads, *row.writes) if access.buffer in miss.buffers]


def _is_of_scans(miss: Miss, moved: LaunchTraffic) -> bool:
    """True if the orders differ because autograd turns around what the one of the two makes or reads: the gradient of a
    cumulative sum is one from the other end, which a program does not choose.
    """
    if miss.code not in _ORDERS:
        return False
    nodes = moved.groups.nodes
    for name in (miss.a, miss.b):
        group = moved.groups.after.get(Id(miss.graph, name))
        for one in () if group is None else group.nodes:
            node = nodes.get(Id(miss.graph, one))
            if node is not None and (node.original_aten or node.target).startswith(_FLIP):
                beside = (nodes.get(Id(miss.graph, other)) for other in (*node.inputs, *node.users))
                if any(other is not None and other.target.startswith(_SCANS) for other in beside):
                    return True
    return False


def _is_of_reductions(miss: Miss, moved: LaunchTraffic, reducing: Mapping[Id, Operation]) -> bool:
    """True if the orders differ because one of the two reduces what they share over some axes, as the sum for the
    gradient of a bias does: the program says which axes, and no layout makes them the other's order.
    """
    if miss.code not in _ORDERS:
        return False
    for name in (miss.a, miss.b):
        group = moved.groups.after.get(Id(miss.graph, name))
        for member in () if group is None else group.members:
            row = reducing.get(Id(miss.graph, member))
            if row is not None and any(access.buffer in miss.buffers for access in row.reads):
                return True
    return False
