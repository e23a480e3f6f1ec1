"""Groups the launches that differ: each group computes the same part of a graph on both sides."""

from collections.abc import Callable, Hashable, Iterator
from typing import NamedTuple

from inspect_compile.analysis.compare.causes.alignment import Alignment, Key, Side
from inspect_compile.analysis.compare.causes.compiled import Call
from inspect_compile.analysis.compare.pairing import matched


class Region(NamedTuple):
    """The launches of one part of a graph."""

    a: tuple[Call, ...]
    b: tuple[Call, ...]


def regions(aligned: Alignment, ours: list[Call], theirs: list[Call]) -> tuple[list[Region], list[tuple[Call, Call]]]:
    """The parts whose launches differ in their code or in what they move, and the launches that are the same."""

    def shared(key: Key) -> tuple[bool, Key]:
        """The name of a node of the other side that counterparts have in common."""
        there = aligned.to_a.get(key)
        return (True, key) if there is None else (False, there)

    named = {id(call): frozenset((False, key) for key in call.computes) for call in ours}
    named |= {id(call): frozenset(map(shared, call.computes)) for call in theirs}
    beside = {id(call): _beside(aligned.a, aligned.to_b, call, lambda key: key) for call in ours}
    beside |= {id(call): _beside(aligned.b, aligned.to_a, call, aligned.to_a.__getitem__) for call in theirs}
    found = matched(
        ours,
        theirs,
        lambda call: (call.source, call.cost.bytes, call.cost.flops, named[id(call)]),
        lambda call: (call.source, call.cost.bytes, call.cost.flops),
    )
    near = {key: [*nodes, *beside[key]] for key, nodes in named.items()}
    return list(_joined(found.only_a, found.only_b, near)), found.pairs


def _beside(side: Side, to: dict[Key, Key], call: Call, shared: Callable[[Key], Key]) -> Iterator[Hashable]:
    """What is read by nodes that only one side has, and what reads them: others may stand there in their place."""
    for key in call.computes:
        if key not in to:
            yield from (("read by", shared(read)) for read in side.reads.get(key, ()) if read in to)
            yield from (("reads", shared(user)) for user in side.users.get(key, ()) if user in to)


def _joined(ours: list[Call], theirs: list[Call], named: dict[int, list[Hashable]]) -> Iterator[Region]:
    """Launches that compute a node in common, or one in the place of the other, or in a chain of those that do."""
    holder: dict[int, int] = {}

    def top(one: int) -> int:
        while holder[one] != one:
            holder[one] = holder[holder[one]]
            one = holder[one]
        return one

    first: dict[Hashable, int] = {}
    for call in (*ours, *theirs):
        holder[id(call)] = id(call)
        for node in named[id(call)]:
            holder[top(id(call))] = top(first.setdefault(node, id(call)))
    found: dict[int, tuple[list[Call], list[Call]]] = {}
    for is_b, calls in enumerate((ours, theirs)):
        for call in calls:
            found.setdefault(top(id(call)), ([], []))[is_b].append(call)
    for one, other in found.values():
        yield Region(tuple(one), tuple(other))
