"""Slices of time that do not overlap, each with what happens in it."""

from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Slice(NamedTuple, Generic[T]):
    """What happens from `start` to `end`, in microseconds on a profile's clock."""

    start: float
    end: float
    what: T

    @property
    def seconds(self) -> float:
        """Its length."""
        return (self.end - self.start) / 1e6


def disjoint(slices: Iterable[Slice[T]]) -> list[Slice[T]]:
    """The slices without overlaps: where two overlap, the one that started first goes on."""
    found: list[Slice[T]] = []
    reached = float("-inf")
    for one in sorted(slices, key=lambda one: (one.start, one.end)):
        if one.end > reached:
            found.append(Slice(max(one.start, reached), one.end, one.what))
            reached = one.end
    return found


def gaps(slices: list[Slice[T]], start: float, end: float) -> list[tuple[float, float]]:
    """What disjoint slices leave free between `start` and `end`."""
    found = []
    for one in slices:
        if one.start >= end:
            break
        if one.start > start:
            found.append((start, one.start))
        start = max(start, one.end)
    if start < end:
        found.append((start, end))
    return found


def within(slices: list[Slice[T]], spaces: Iterable[tuple[float, float]]) -> list[Slice[T]]:
    """The parts of disjoint slices that lie in these disjoint spaces."""
    found: list[Slice[T]] = []
    at = 0
    for start, end in spaces:
        while at < len(slices) and slices[at].end <= start:
            at += 1
        index = at
        while index < len(slices) and slices[index].start < end:
            one = slices[index]
            found.append(Slice(max(one.start, start), min(one.end, end), one.what))
            index += 1
    return found
