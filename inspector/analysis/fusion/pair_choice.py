"""Which two operations are meant where two names stand for several each: those in one kernel, of one block."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from inspect_compile.facts import Node, Operation

Outcome = Literal["together", "one-kernel", "apart", "same", "inlined"]
RANK: Final[tuple[Outcome, ...]] = ("inlined", "together", "one-kernel", "apart", "same")


class ResolvedOperations(msgspec.Struct, frozen=True):
    """Scheduler nodes before fusion that a name stands for, all in one graph, nested or not."""

    asked: str
    graph: str
    operations: tuple[str, ...]
    """In schedule order."""
    is_loose: bool = False
    """True if they only have the FX node as an origin: its lowering made no operation."""
    nodes: frozenset[str] = frozenset()
    """The FX nodes that the name stands for; empty for the name of an operation, a buffer or a kernel."""
    inlined: tuple[str, ...] = ()
    """Operations made for other nodes that compute one of `nodes` inline, in schedule order; some can be in
    `operations`, too: all of them if none was made for `nodes`.
    """


class OtherPair(msgspec.Struct, frozen=True):
    """Another pair that two names can mean."""

    a: str
    b: str
    outcome: Outcome


class _Choice(NamedTuple):
    """One pair, in schedule order, and which name each of the two is for."""

    a: str
    b: str
    outcome: Outcome
    is_swapped: bool
    """Whether `a` is for the second name."""
    distance: int
    """How far apart: 0 in one block of a model, 2 in blocks with other paths of modules, 1 if only the order of the
    nodes tells them apart."""
    saved: int
    is_sharing: bool


class Chosen(NamedTuple):
    """The pair that is answered for."""

    a: str
    b: str
    outcome: Outcome
    is_swapped: bool
    others: tuple[OtherPair, ...]


class PairChoice:
    """Chooses among the operations of one graph."""

    def __init__(
        self,
        rows: Mapping[str, Operation],
        nodes: Iterable[Node],
        group_of: Callable[[str], str],
        outcome: Callable[[str, str], Outcome],
        shared: Callable[[str, str], tuple[int, bool]],
        computes: Callable[[str, str], bool],
    ) -> None:
        """`nodes` are those of the graph, in order. `group_of` is the scheduler node that an operation ended in,
        `outcome` what became of two operations, `shared` the bytes that one kernel for both would save and whether they
        share a buffer or a part of one; `computes` tells whether an operation computes a node that is an origin.
        """
        self._rows = rows
        self._nodes = {node.name: node for node in nodes}
        self._group_of = group_of
        self._outcome = outcome
        self._shared = shared
        self._computes = computes

    def of(self, one: ResolvedOperations, other: ResolvedOperations) -> Chosen:
        """The pair of two names: the one in one kernel comes first, then that of one block, then the one that shares
        most bytes.
        """
        one, other = self._checked(one), self._checked(other)
        blocks = _Blocks(self._places(one), self._places(other))
        found = sorted(set(self._choices(one, other, blocks)), key=self._key)
        if not found:
            a = one.operations[0]
            return Chosen(a, a, "same", False, ())
        first, *rest = found
        return Chosen(first.a, first.b, first.outcome, first.is_swapped, tuple(self._others(first, rest)))

    def _others(self, first: _Choice, rest: Iterable[_Choice]) -> Iterator[OtherPair]:
        """One pair for each two scheduler nodes; of those that are apart the nearest, and first if `first` is not of
        one block.
        """
        rest = list(rest)
        nearest = min((choice.distance for choice in (first, *rest)), default=0)
        apart = [choice for choice in rest if choice.outcome == "apart" and choice.distance == nearest]
        apart = [choice for choice in apart if choice.is_sharing] or ([] if first.is_sharing else apart)
        fused = [choice for choice in rest if choice.outcome != "apart"]
        if first.outcome == "apart":
            yield from (OtherPair(choice.a, choice.b, choice.outcome) for choice in apart)
            return
        known = {self._groups(first)}
        for choice in (*apart, *fused) if first.distance > nearest else (*fused, *apart):
            groups = self._groups(choice)
            if groups not in known:
                known.add(groups)
                yield OtherPair(choice.a, choice.b, choice.outcome)

    def _groups(self, choice: _Choice) -> frozenset[str]:
        return frozenset((self._group_of(choice.a), self._group_of(choice.b)))

    def _checked(self, meant: ResolvedOperations) -> ResolvedOperations:
        """The same without the operations that have a node as an origin and do not compute it."""
        own = _own(meant)
        inlined = [
            one
            for one in meant.inlined
            if any(self._computes(one, name) for name in self._rows[one].nodes if name in meant.nodes)
        ]
        kept = tuple(one for one in meant.operations if one in inlined or one not in meant.inlined)
        return msgspec.structs.replace(meant, operations=kept or tuple(own), inlined=tuple(inlined))

    def _choices(self, one: ResolvedOperations, other: ResolvedOperations, blocks: "_Blocks") -> Iterator[_Choice]:
        own_one, own_other = _own(one), _own(other)
        for a in dict.fromkeys((*one.operations, *one.inlined)):
            for b in dict.fromkeys((*other.operations, *other.inlined)):
                is_own = a in own_one and b in own_other
                if a == b:
                    if (a in one.inlined or a in other.inlined) and self._is_two(a, one, other):
                        yield _Choice(a, a, "inlined", False, blocks.distance(a, a), 0, True)
                    continue
                outcome = self._outcome(a, b)
                if outcome == "apart" and not is_own:
                    continue  # a value that is computed again elsewhere is no reason to say that the two are apart
                saved, is_sharing = self._shared(a, b)
                is_swapped = self._rows[a].order > self._rows[b].order
                first, second = (b, a) if is_swapped else (a, b)
                yield _Choice(first, second, outcome, is_swapped, blocks.distance(a, b), saved, is_sharing)

    def _is_two(self, operation: str, one: ResolvedOperations, other: ResolvedOperations) -> bool:
        """False if both names mean one and the same node of an operation."""
        own = set(self._rows[operation].nodes)
        return len((own & one.nodes or {operation}) | (own & other.nodes or {operation})) > 1

    def _places(self, meant: ResolvedOperations) -> "dict[str, _Place]":
        """Operation → the place in the graph of what the name means in it."""
        found = {}
        for operation in (*meant.operations, *meant.inlined):
            names = self._rows[operation].nodes
            named = [name for name in names if name in meant.nodes] or list(names[-1:])
            node = self._nodes.get(named[-1]) if named else None
            found[operation] = (
                _Place(self._rows[operation].order, "") if node is None else _Place(node.index, node.module)
            )
        return found

    def _key(self, choice: _Choice) -> tuple[int, int, int, bool, int, int]:
        orders = self._rows[choice.a].order, self._rows[choice.b].order
        return (RANK.index(choice.outcome), choice.distance, -choice.saved, not choice.is_sharing, *orders)


class _Place(NamedTuple):
    """Where in a graph a node is."""

    position: int
    module: str


class _Blocks:
    """Which operations of two names belong to one block of a model, one turn of an unrolled loop.

    Modules tell it where they have numbers. The order of the nodes tells it otherwise: a new block starts wherever the
    name that comes first comes again.
    """

    def __init__(self, one: dict[str, _Place], other: dict[str, _Place]) -> None:
        self._one, self._other = one, other
        sides = [{place.position for place in side.values()} for side in (one, other)]
        places = sorted((index, which) for which in (0, 1) for index in sides[which] - sides[1 - which])
        self._block: dict[int, int] = {}
        block, last = 0, places[0][1] if places else 0
        first = last
        for index, which in places:
            block += which == first != last
            last = which
            self._block[index] = block

    def distance(self, a: str, b: str) -> int:
        """0 in one block; `a` is for the first name."""
        one, other = self._one[a], self._other[b]
        if is_other_block(one.module, other.module):
            return 2
        blocks = self._block.get(one.position), self._block.get(other.position)
        return int(None not in blocks and blocks[0] != blocks[1])


def _own(meant: ResolvedOperations) -> frozenset[str]:
    """The operations that were made for what a name means; all if none was."""
    return frozenset(meant.operations).difference(meant.inlined) or frozenset(meant.operations)


def is_other_block(one: str, other: str) -> bool:
    """True for `layers.0.attention` and `layers.1.norm`."""
    pairs = zip(one.split("."), other.split("."), strict=False)
    a, b = next(((a, b) for a, b in pairs if a != b), ("", ""))
    return a.isdecimal() and b.isdecimal()
