"""What another value of a setting does to a pair of operations, and to the rest of their graph."""

import msgspec

from inspect_compile.analysis.compare.replays import Counts, replays
from inspect_compile.analysis.lookup.pairs import Pair, PairPlacement, standing
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph, outermost


class Tried(msgspec.Struct, frozen=True, tag_field="fact", tag="tried"):
    """A graph compiled again with one setting changed, to see what happens to two operations."""

    graph: str
    knob: str
    value: str
    """As a Python literal."""
    a: tuple[str, ...]
    b: tuple[str, ...]
    replay: int | None = None
    """Number of the replay; None if nothing could be compiled."""
    failure: str = ""
    """Why it was not compiled, in one line."""
    fused: bool = False
    """Whether operations of both are in one scheduler node then."""
    one_kernel: bool = False
    """Whether they are in one kernel."""
    fused_before: bool = False
    one_kernel_before: bool = False
    groups_a: tuple[str, ...] = ()
    groups_b: tuple[str, ...] = ()
    """The scheduler nodes that contain them then."""
    kernels: tuple[str, ...] = ()
    """The kernels that contain either."""
    before: Counts | None = None
    after: Counts | None = None
    same_code: bool | None = None
    """Whether the generated code is unchanged."""
    came_together: tuple[tuple[str, ...], ...] = ()
    """Other scheduler nodes, by their first names, that became one."""
    came_apart: tuple[tuple[str, ...], ...] = ()
    """Scheduler nodes that were one before, by their first names, or the new ones where those changed as well."""


def tried(dump: Dump, again: Dump, pair: Pair, knob: str, value: object, number: int) -> Tried:
    """What the replay `again`, with the given number, did to `pair` of `dump`."""
    outer = outermost(pair.graph)
    two = CompiledGraph(dump, pair.graph), CompiledGraph(again, pair.graph)
    counterparts = _counterparts(*two)
    first = standing(dump, pair)
    moved = Pair(pair.graph, *(_moved(side, counterparts) for side in (pair.a, pair.b)))
    then = standing(again, moved)
    around = Dump(again.root.parent)
    (found,) = replays(around, outer, [number])
    ((row, _),) = found.again
    own = {name for side in (*first[:2], *then[:2]) for name in side}
    together, apart = _changes(*two, counterparts)
    return Tried(
        graph=pair.graph,
        knob=knob,
        value=repr(value),
        a=pair.a,
        b=pair.b,
        replay=number,
        fused=_is_one(then, moved),
        one_kernel=then.is_one_kernel,
        fused_before=first.is_fused,
        one_kernel_before=first.is_one_kernel,
        groups_a=then.a,
        groups_b=then.b,
        kernels=tuple(dict.fromkeys((*then.kernels_a, *then.kernels_b))),
        before=found.first.counts,
        after=row.counts,
        same_code=row.same_code,
        came_together=tuple(names for names in together if not own.issuperset(names)),
        came_apart=tuple(names for names in apart if not own.issuperset(names)),
    )


def _is_one(then: PairPlacement, moved: Pair) -> bool:
    """True if they are in one scheduler node, or one operation, like the steps of a reduction no longer split."""
    return then.is_fused or not set(moved.a).isdisjoint(moved.b)


def _counterparts(first: CompiledGraph, again: CompiledGraph) -> dict[str, tuple[str, ...]]:
    """Operation → operations that compute the same in the second compile: a setting may change their number."""
    before, after = ({row.name: row for row in graph.own(graph.operations)} for graph in (first, again))
    if {name: row.nodes for name, row in before.items()} == {name: row.nodes for name, row in after.items()}:
        return {member: (member,) for row in before.values() for member in row.members}
    found: dict[str, tuple[str, ...]] = {}
    for name, row in before.items():
        own = set(row.nodes)
        same = [one for one, other in after.items() if other.nodes == row.nodes]
        found[name] = tuple(same or [one for one, other in after.items() if not own.isdisjoint(other.nodes)])
    return found


def _moved(side: tuple[str, ...], counterparts: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(other for one in side for other in counterparts.get(one, ())))


def _changes(
    first: CompiledGraph, again: CompiledGraph, counterparts: dict[str, tuple[str, ...]]
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Scheduler nodes of the first compile that are one in the second, and of the second that were one in the first."""
    after = {member: row.name for row in again.own(again.groups) for member in row.members}
    merged: dict[str, dict[str, None]] = {}
    apart = []
    for row in first.own(first.groups):
        of = {member: [after[one] for one in counterparts.get(member, ()) if one in after] for member in row.members}
        for names in of.values():
            for name in names:
                merged.setdefault(name, {})[row.name] = None
        now = dict.fromkeys(names[0] for names in of.values() if len(set(names)) == 1)
        if len(now) > 1:
            apart.append(tuple(now))
    return [tuple(names) for names in merged.values() if len(names) > 1], apart
