"""Finds what repeats in a sequence: layers of a model, by what they are and not by what they are called. Pure."""

from collections import Counter, deque
from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

_PERIODS: Final = 24
"""Distances between equal items that are tried, the most frequent first."""
_EARLIER: Final = 12
"""How many earlier equal items are looked at: a layer may have several kernels of one kind."""
_LEAST: Final = 3
"""Items that a fold must save, else it is easier to read without."""


class Run(NamedTuple):
    """`copies` copies of `period` items each, one after the other from `start`."""

    start: int
    period: int
    copies: int

    @property
    def end(self) -> int:
        """The position after the last copy."""
        return self.start + self.period * self.copies


def repeats(
    items: Sequence[Hashable], inside: Sequence[Sequence[int]], common: Sequence[int] | None = None
) -> list[Run]:
    """The repeated parts, in order and without overlap, those that cover most first in case of doubt.

    `inside` are, for each item, the positions of the items that it depends on: copies are equal if their items are, and
    depend on each other in the same way. `common` says how much an item has in common with the one before it: of copies
    that could begin at several items, they begin where it is least.
    """
    common = common or [0] * len(items)
    found: list[Run] = []
    open_parts = [(0, len(items))]
    while open_parts:
        first, last = open_parts.pop()
        run = _best(items, inside, common, first, last)
        if run is not None:
            found.append(run)
            open_parts += [(first, run.start), (run.end, last)]
    return sorted(found)


def _best(
    items: Sequence[Hashable], inside: Sequence[Sequence[int]], common: Sequence[int], first: int, last: int
) -> Run | None:
    """The run between two positions that saves most; of equal ones that with the shortest period, and of these the one
    that begins where a module does.
    """

    def worth(run: Run) -> tuple[int, int, int, int]:
        return run.period * (run.copies - 1), -run.period, -common[run.start], -run.start

    best: Run | None = None
    for period in _periods(items, first, last):
        for start, end in _equal(items, period, first, last):
            copies, more = divmod(end - start, period)
            border = min(range(start, start + more + 1), key=common.__getitem__)
            for begin in sorted({start, border}):
                for run in _alike(inside, Run(begin, period, copies)):
                    saved = run.period * (run.copies - 1)
                    if saved >= _LEAST and (best is None or worth(run) > worth(best)):
                        best = run
    return best


def _periods(items: Sequence[Hashable], first: int, last: int) -> list[int]:
    """The most frequent distances between equal items: of a layer, all of its items have it."""
    before: dict[Hashable, deque[int]] = {}
    distances: Counter[int] = Counter()
    for place in range(first, last):
        earlier = before.setdefault(items[place], deque(maxlen=_EARLIER))
        distances.update([place - other for other in earlier])
        earlier.append(place)
    return sorted(distance for distance, _ in distances.most_common(_PERIODS))


def _equal(items: Sequence[Hashable], period: int, first: int, last: int) -> list[tuple[int, int]]:
    """The longest stretches in which each item equals the one a period later, at least two periods long."""
    found, start = [], first
    for place in range(first, last):
        if place + period >= last or items[place] != items[place + period]:
            if place + period - start >= 2 * period:
                found.append((start, min(place + period, last)))
            start = place + 1
    return found


def _alike(inside: Sequence[Sequence[int]], run: Run) -> list[Run]:
    """The parts of a run whose copies depend on their own items in the same way."""
    found: list[Run] = []
    start, count = run.start, 0
    kept: list[tuple[int, ...]] = []
    for copy in range(run.copies):
        at = run.start + copy * run.period
        own = [
            tuple(sorted(item - at for item in set(inside[place]) if at <= item < at + run.period))
            for place in range(at, at + run.period)
        ]
        if kept and own == kept:
            count += 1
            continue
        if count > 1:
            found.append(Run(start, run.period, count))
        start, count, kept = at, 1, own
    if count > 1:
        found.append(Run(start, run.period, count))
    return found
