"""Which frames and graphs of two compiles are the same ones: paired here, once, for everything that compares."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from inspect_compile.analysis.compare.beside_target import comparable
from inspect_compile.analysis.compare.content import Content, FrameContent, GraphContent, content
from inspect_compile.dump import Dump

T = TypeVar("T")


class Matched(NamedTuple, Generic[T]):
    """What has a counterpart, and what has none."""

    pairs: list[tuple[T, T]]
    only_a: list[T]
    only_b: list[T]


def matched(a: Iterable[T], b: Iterable[T], *keys: Callable[[T], Hashable]) -> Matched[T]:
    """Each of `a` with the first of `b` that has the same key and no counterpart yet: first all that agree in the first
    key, then what is left by the next one. The pairs come in that order, each time in the order of `a`.
    """
    pairs: list[tuple[T, T]] = []
    left, right = list(a), list(b)
    for key in keys:
        waiting: dict[Hashable, deque[T]] = {}
        for other in right:
            waiting.setdefault(key(other), deque()).append(other)
        alone = []
        for one in left:
            if others := waiting.get(key(one)):
                pairs.append((one, others.popleft()))
            else:
                alone.append(one)
        still = {id(other) for others in waiting.values() for other in others}
        left, right = alone, [other for other in right if id(other) in still]
    return Matched(pairs, left, right)


class FramePair(NamedTuple):
    """A compile of a function on both sides, or on one only."""

    a: FrameContent | None
    b: FrameContent | None


class GraphPair(NamedTuple):
    """A graph on both sides, or on one only."""

    a: GraphContent | None
    b: GraphContent | None


class Pairing:
    """Two compiles, without what only the presence of a GPU makes differ if one of them is for a target."""

    def __init__(self, a: Content, b: Content) -> None:
        self.a, self.b = comparable(a, b)

    @cached_property
    def frames(self) -> list[FramePair]:
        """The n-th compile of a function with the n-th on the other side, at the same line before at another one of the
        file, which may have another name if it is the program itself; then those that only the other side has.
        """
        found = matched(
            self.a.frames,
            self.b.frames,
            lambda row: (row.function, row.in_any_file(row.where)),
            lambda row: (row.function, row.in_any_file(row.where).rpartition(":")[0]),
        )
        there = {id(one): other for one, other in found.pairs}
        paired = [FramePair(row, there.get(id(row))) for row in self.a.frames]
        return [*paired, *(FramePair(None, row) for row in found.only_b)]

    @cached_property
    def graphs(self) -> list[GraphPair]:
        """The graphs in the order of the first side, then those that one side alone has.

        First those of the same frame and kind are paired, those with the same content before those in order: backward
        graphs of one frame are compiled in reverse on a GPU, and with their forward for a target. Then those with the
        same content; then those with the same compile id and kind. A frame that was not recorded is known by its
        compile id.
        """
        frames: dict[str, str | None] = {row.compile_id: None for row in self.b.frames}
        frames |= {b.compile_id: a.compile_id for a, b in self.frames if a is not None and b is not None}
        of_frame: dict[int, str | None] = {id(one): one.compile_id for one in self.a.graphs}
        of_frame |= {id(one): frames.get(one.compile_id, one.compile_id) for one in self.b.graphs}
        found = matched(
            self.a.graphs,
            self.b.graphs,
            lambda one: (of_frame[id(one)], one.kind, one.wiring),
            lambda one: (of_frame[id(one)], one.kind),
            lambda one: (one.kind, one.wiring),
            lambda one: (one.compile_id, one.kind),
        )
        order = {id(one): index for index, one in enumerate(self.a.graphs)}
        paired = sorted((GraphPair(*pair) for pair in found.pairs), key=lambda pair: order[id(pair.a)])
        alone = [GraphPair(one, None) for one in found.only_a], [GraphPair(None, one) for one in found.only_b]
        return [*paired, *alone[0], *alone[1]]


def paired(a: Dump, b: Dump) -> Pairing:
    """What both dumps hold, paired."""
    return Pairing(content(a), content(b))
