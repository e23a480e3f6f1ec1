"""The bytes that the loads or stores of one kernel touch in one buffer: each element once, and with repetition."""

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from inspect_compile.facts import Access
from inspect_compile.graph.indexing.footprint import AccessFootprint, evaluated, image, together

_MOST = 1 << 56
"""Bytes: a larger number can only come from a damaged dump, and would overflow when summed up."""
_VALUE = re.compile(r"\btmp\d+\b")
_NAME = re.compile(r"[A-Za-z_]\w*")


class Reached(NamedTuple):
    """What one index reaches."""

    elements: AccessFootprint
    points: int
    """Points of all its loops."""
    moving: int
    """Points of the loops whose variables are in the index."""


class IndexFootprints:
    """The elements that the indices of a graph reach, computed once for each index."""

    def __init__(self, hints: Mapping[str, int]) -> None:
        self.hints = hints
        self._known: dict[tuple[str, tuple[str, ...]], Reached] = {}
        self._lengths: dict[str, int | None] = {}
        self._has_hints: dict[tuple[str, ...], bool] = {}

    def of(self, index: str, lengths: tuple[str, ...]) -> Reached:
        """What the index reaches as its variables run through ranges of these lengths."""
        found = self._known.get((index, lengths))
        if found is None:
            ranges = {text.partition("=")[0]: self._length(text) or 0 for text in lengths}
            found = self._known[index, lengths] = Reached(
                image(index, ranges, self.hints),
                math.prod(ranges.values()),
                math.prod(ranges[name] for name in set(_NAME.findall(index)) & ranges.keys()),
            )
        return found

    def has_hints(self, lengths: tuple[str, ...]) -> bool:
        """True if the length of each range is known."""
        found = self._has_hints.get(lengths)
        if found is None:
            found = self._has_hints[lengths] = all(self._length(text) is not None for text in lengths)
        return found

    def _length(self, text: str) -> int | None:
        if text not in self._lengths:
            found = evaluated(text.partition("=")[2], self.hints)
            self._lengths[text] = None if found is None else max(0, found)
        return self._lengths[text]


class Touched:
    """Bytes of one buffer, read or written."""

    def __init__(self) -> None:
        self.generated = 0
        """Bytes of every access at every point of the loops."""
        self._images: list[AccessFootprint] = []
        self._item = 0
        self._limit: int | None = None
        """Bytes of the whole buffer."""
        self._given = 0
        """Bytes touched as a whole."""
        self._by_value = 0
        """Touched where the values say, at most, but for what is known to be the same places."""
        self._by_places: dict[tuple[str, str, tuple[str, ...]], int] = {}
        """What is known to be: by the places, the index without the numbers of its values, and the ranges."""
        self._is_unsure = False
        self._least: int | None = None
        """`least`, once somebody has asked."""

    def whole(self, size: int, *, is_unsure: bool = False) -> None:
        """Add `size` bytes of the buffer as a whole."""
        self._least = None
        size = _sound(size)
        self._given = max(self._given, size)
        self._is_unsure = self._is_unsure or is_unsure
        self.generated += size

    def access(self, one: Access, places: IndexFootprints, *, points: int | None, executes: bool) -> None:
        """Add a load or store at `points` points of the loops; None for the points that the access itself states.

        `executes=False`: the value is already available from another access.
        """
        self._least = None
        size = _sound(one.bytes or 0)
        if one.kind != "memory" or one.index is None:
            self._given = max(self._given, size)
            self.generated += size if executes else 0
            return
        reached, loops, moving = places.of(one.index, one.ranges)
        item = None if one.item is None else _sound(one.item)
        if item is None:
            item = size // moving if moving and not reached.is_indirect else 0
        if not item:
            self._given = max(self._given, size)  # an older dump has no element sizes
            self._is_unsure = self._is_unsure or reached.is_indirect
            self.generated += size if executes else 0
            return
        self._item = item
        self._images.append(reached)
        self._limit = _sound(one.whole) if one.whole is not None else self._limit
        times = loops if points is None else points
        if reached.is_indirect:
            size = _sound(times * item)
            if one.places:
                key = one.places, _VALUE.sub("tmp", one.index), one.ranges
                self._by_places[key] = max(self._by_places.get(key, 0), size)
            else:
                self._by_value += size
        self.generated += _sound(times * item) if executes else 0

    def merged(self, other: "Touched") -> "Touched":
        """What both touch, as if one did."""
        found = Touched()
        found._images = [*dict.fromkeys((*self._images, *other._images))]
        found._item = max(self._item, other._item)
        limits = [limit for limit in (self._limit, other._limit) if limit is not None]
        found._limit = max(limits) if limits else None
        found._given = max(self._given, other._given)
        found._by_places = dict(self._by_places)
        for key, size in other._by_places.items():
            found._by_places[key] = max(found._by_places.get(key, 0), size)
        found._by_value = self._by_value + other._by_value
        found._is_unsure = self._is_unsure or other._is_unsure
        found.generated = self.generated + other.generated
        return found

    @property
    def least(self) -> int:
        """Bytes, each element once; accesses that depend on values count as if all their elements differed."""
        if self._least is None:
            self._least = self._up_to_all(max(self._sure, self._by_value + sum(self._by_places.values())))
        return self._least

    @property
    def unsure(self) -> int:
        """The part of `least` that depends on values."""
        if not (self._is_unsure or self._by_value or self._by_places):
            return 0
        return self.least if self._is_unsure else self.least - self._up_to_all(self._sure)

    @property
    def _sure(self) -> int:
        if not self._images:
            return self._given
        elements = self._images[0].elements if len(self._images) == 1 else together(self._images)
        return max(_sound(elements * self._item), self._given)

    def _up_to_all(self, size: int) -> int:
        return size if self._limit is None else min(size, max(self._limit, self._given))


def _sound(count: int) -> int:
    return max(0, min(count, _MOST))
