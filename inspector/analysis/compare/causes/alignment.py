"""Aligns the nodes of one FX graph on two sides: by what they compute, then by where they stand in the program.

Names and numbers of nodes count for nothing: torch numbers them in the order in which it makes them.
"""

import difflib
import re
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

from inspect_compile.analysis.compare.content import own
from inspect_compile.facts import Location, Node

Key = tuple[str, str]
"""Path of the nested graph in the outermost one, and the node's name."""

_NAME: Final = re.compile(r"%(\w+)")
_MOST_PRODUCT: Final = 40_000
"""Lines of one side times lines of the other up to which they are aligned without an anchor."""
_GIVEN: Final = ("placeholder", "get_attr")


class Side:
    """The nodes of one stage on one side."""

    def __init__(self, nodes: Iterable[tuple[str, Node]], *, has_calls: bool = True) -> None:
        """`nodes`: each with the path of its graph. Without `has_calls`, which calls led to a line does not count."""
        self.nodes: dict[Key, Node] = {(path, node.name): node for path, node in nodes}
        self.place = {key: place for place, key in enumerate(self.nodes)}
        self.reads: dict[Key, tuple[Key, ...]] = {key: tuple(self._reads(*key)) for key in self.nodes}
        """The nodes that each reads, in the order of its arguments."""
        self.users: dict[Key, list[Key]] = {}
        for key, reads in self.reads.items():
            for one in dict.fromkeys(reads):
                self.users.setdefault(one, []).append(key)
        self.own = {key: (key[0], *_own(node)) for key, node in self.nodes.items()}
        """What a node does, without what it reads: operator and literal arguments."""
        self.results = {key: results_of(node) for key, node in self.nodes.items()}
        self.lines = {key: (_lines(node.where, has_calls), node.module) for key, node in self.nodes.items()}

    def _reads(self, path: str, name: str) -> Iterator[Key]:
        node = self.nodes[path, name]
        for read in _NAME.findall(node.arguments) or node.inputs:
            if (path, read) in self.nodes:
                yield path, read

    def near(self, key: Key) -> Iterator[Key]:
        """The nodes that it reads, and those that read it."""
        yield from self.reads.get(key, ())
        yield from self.users.get(key, ())


def calls_to(where: Location | None, has_calls: bool) -> list[Location]:
    """A line, and with `has_calls` those that led to it."""
    calls = [] if where is None else list(where.calls())
    return calls if has_calls else calls[:1]


def _lines(where: Location | None, has_calls: bool) -> tuple[str, ...]:
    """The texts of the lines: their numbers move."""
    return tuple(one.code.strip() for one in calls_to(where, has_calls))


class Alignment:
    """Which node of one side is which of the other."""

    def __init__(self, a: Side, b: Side) -> None:
        self.a, self.b = a, b
        self.to_b: dict[Key, Key] = {}
        self.to_a: dict[Key, Key] = {}
        known: dict[Hashable, int] = {}
        ours, theirs = _computed(a, known), _computed(b, known)
        self._same(
            {key: (ours[key], a.lines[key]) for key in ours}, {key: (theirs[key], b.lines[key]) for key in theirs}
        )
        self._same(ours, theirs)
        self._in_order(
            {key: (a.own[key], a.lines[key]) for key in ours}, {key: (b.own[key], b.lines[key]) for key in theirs}
        )
        for words in (slice(None), slice(2)):
            self._in_order(
                {key: a.own[key][words] for key in ours}, {key: b.own[key][words] for key in theirs}, is_loose=True
            )
        self._inputs()

    def kind(self, key: Key, *, is_b: bool) -> str:
        """How a node differs: `only` (no counterpart), `changed` (it does something else, or reads something else),
        `given` (another type, size or layout), or not at all: empty.
        """
        return self._kinds[is_b].get(key, "")

    def root(self, key: Key, *, is_b: bool) -> Key:
        """The first node because of which a node differs: one that it is computed from, or itself."""
        return self._roots[is_b].get(key, key)

    @cached_property
    def _kinds(self) -> tuple[dict[Key, str], dict[Key, str]]:
        """The nodes that differ, on either side."""
        ours = {key: kind for key in self.a.nodes if (kind := self._kind(key, is_b=False))}
        return ours, {key: kind for key in self.b.nodes if (kind := self._kind(key, is_b=True))}

    @cached_property
    def _roots(self) -> tuple[dict[Key, Key], dict[Key, Key]]:
        return self._rooted(self.a, self._kinds[False]), self._rooted(self.b, self._kinds[True])

    @staticmethod
    def _rooted(side: Side, kinds: dict[Key, str]) -> dict[Key, Key]:
        found: dict[Key, Key] = {}
        for key in side.nodes:
            if kinds.get(key) == "given":
                before = [found[read] for read in side.reads[key] if read in found]
                found[key] = min(before, key=side.place.__getitem__, default=key)
            elif key in kinds:
                found[key] = key
        return found

    def _kind(self, key: Key, *, is_b: bool) -> str:
        side, other, to = (self.b, self.a, self.to_a) if is_b else (self.a, self.b, self.to_b)
        there = to.get(key)
        if there is None:
            return "only"
        if side.own[key] != other.own[there] and side.nodes[key].op not in _GIVEN:
            return "changed"
        if side.nodes[key].op == "output" and [to.get(one) for one in side.reads[key]] != list(other.reads[there]):
            return "changed"
        back = self.to_b if is_b else self.to_a
        for one, read in zip(side.reads[key], other.reads[there], strict=False):
            if one in to and read in back and to[one] != read:
                return "changed"
        return "given" if side.results[key] != other.results[there] else ""

    def _pair(self, one: Key, other: Key) -> None:
        self.to_b[one] = other
        self.to_a[other] = one

    def _same(self, ours: Mapping[Key, Hashable], theirs: Mapping[Key, Hashable]) -> None:
        waiting: dict[Hashable, deque[Key]] = {}
        for key, value in theirs.items():
            if key not in self.to_a:
                waiting.setdefault(value, deque()).append(key)
        for key, value in ours.items():
            if key not in self.to_b and (there := waiting.get(value)):
                self._pair(key, there.popleft())

    def _in_order(
        self, ours: Mapping[Key, Hashable], theirs: Mapping[Key, Hashable], *, is_loose: bool = False
    ) -> None:
        left = [key for key in ours if key not in self.to_b]
        right = [key for key in theirs if key not in self.to_a]
        for one, other in in_order([ours[key] for key in left], [theirs[key] for key in right]):
            if not is_loose or self._is_near(left[one], right[other]):
                self._pair(left[one], right[other])

    def _is_near(self, key: Key, other: Key) -> bool:
        """Do they stand on the same line, or next to nodes that are each other's counterparts?"""
        if self.a.lines[key] == self.b.lines[other] and self.a.lines[key][0]:
            return True
        there = set(self.b.near(other))
        return any(self.to_b.get(one) in there for one in self.a.near(key) if one in self.to_b)

    def _inputs(self) -> None:
        """Inputs and constants are those that counterparts read in the same place; then those of the same name."""
        votes: Counter[tuple[Key, Key]] = Counter()
        for one, other in self.to_b.items():
            for read, theirs in zip(self.a.reads[one], self.b.reads[other], strict=False):
                if self._is_given(self.a, read) and self._is_given(self.b, theirs):
                    votes[read, theirs] += 1
        for (read, theirs), _ in votes.most_common():
            if read not in self.to_b and theirs not in self.to_a:
                self._pair(read, theirs)
        ours, others = (
            {key: (node.op, node.target) for key, node in side.nodes.items() if node.op in _GIVEN}
            for side in (self.a, self.b)
        )
        self._same(ours, others)

    @staticmethod
    def _is_given(side: Side, key: Key) -> bool:
        return side.nodes[key].op in _GIVEN


def in_order(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Positions of equal values, in order on both sides: between values that either side has once (patience diff)."""
    found: list[tuple[int, int]] = []
    waiting = [(0, len(a), 0, len(b))]
    while waiting:
        start, end, begin, stop = waiting.pop()
        while start < end and begin < stop and a[start] == b[begin]:
            found.append((start, begin))
            start, begin = start + 1, begin + 1
        while start < end and begin < stop and a[end - 1] == b[stop - 1]:
            end, stop = end - 1, stop - 1
            found.append((end, stop))
        if start == end or begin == stop:
            continue
        anchors = _anchors(a, b, range(start, end), range(begin, stop))
        if anchors:
            found += anchors
            edges = [(start - 1, begin - 1), *anchors, (end, stop)]
            waiting += [
                (one + 1, after, other + 1, later)
                for (one, other), (after, later) in pairwise(edges)
                if one + 1 < after and other + 1 < later
            ]
        elif (end - start) * (stop - begin) <= _MOST_PRODUCT:
            matcher = difflib.SequenceMatcher(None, a[start:end], b[begin:stop], autojunk=False)
            for one, other, size in matcher.get_matching_blocks():
                found += [(start + one + step, begin + other + step) for step in range(size)]
    return sorted(found)


def _anchors(a: Sequence[Hashable], b: Sequence[Hashable], left: range, right: range) -> list[tuple[int, int]]:
    """The longest series of values that are once on either side, in order on both."""
    ours, theirs = Counter(a[place] for place in left), Counter(b[place] for place in right)
    there = {b[place]: place for place in right if theirs[b[place]] == 1}
    pairs = [(place, there[a[place]]) for place in left if ours[a[place]] == 1 and a[place] in there]
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        at = bisect_left(ends, place)
        before.append(last[at - 1] if at else -1)
        ends[at : at + 1] = [place]
        last[at : at + 1] = [index]
    found = []
    index = last[-1] if last else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]


def _computed(side: Side, known: dict[Hashable, int]) -> dict[Key, int]:
    """Node → a number for all that it computes from the inputs on: equal computations have equal numbers.

    Inputs and constants are told apart by type and size only, since kernels do not depend on more.
    """
    numbers: dict[Key, int] = {}
    found: dict[Key, int] = {}
    for key, node in side.nodes.items():
        if node.op in _GIVEN:
            value: Hashable = (key[0], node.op, side.results[key])
        else:
            reads = tuple(numbers.get(read, -1) for read in side.reads[key])
            value = (side.own[key], side.results[key], reads)
        numbers[key] = known.setdefault(value, len(known))
        if node.op not in _GIVEN:
            found[key] = numbers[key]
    return found


def _own(node: Node) -> tuple[str, str]:
    if not node.op.startswith("call"):
        return node.op, ""
    return node.target, own(_NAME.sub("%", node.arguments))


def results_of(node: Node) -> tuple[str, ...]:
    """Type, size, strides and device of each output."""
    return tuple(
        own(f"{one.dtype}[{','.join(map(str, one.size))}] ({','.join(map(str, one.stride))}) {one.device}")
        for one in node.values
    )
