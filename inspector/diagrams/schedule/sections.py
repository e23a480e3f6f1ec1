"""Cuts a long schedule into sections.

`dot` takes far more than twice the time for twice the nodes: with sections of equal size the time grows linearly. They
also keep a long schedule from becoming one column a hundred times as high as wide.
"""

from collections.abc import Sequence
from typing import Final

LONGEST: Final = 48
"""Number of operations up to which a schedule is not cut."""

_WANTED: Final = 34
"""Desired number of operations per section of a longer schedule."""

_SLACK: Final = 0.4
"""How far a cut may move to where fewer arrows cross it, as a fraction of a section."""


def cuts(sizes: Sequence[int], arrows: Sequence[tuple[int, int]]) -> list[range]:
    """Positions of units by section. `sizes` are numbers of operations of the units, `arrows` go from position to
    position.
    """
    crossing = _crossing(len(sizes), arrows)
    sections: list[range] = []
    start, left = 0, sum(sizes)
    while left > LONGEST:
        end = _end(sizes, crossing, start, left / round(left / _WANTED))
        sections.append(range(start, end))
        left -= sum(sizes[start:end])
        start = end
    sections.append(range(start, len(sizes)))
    return [section for section in sections if section]


def _crossing(number: int, arrows: Sequence[tuple[int, int]]) -> list[int]:
    """For each position, the number of arrows from before it to it or beyond."""
    crossing = [0] * (number + 1)
    for first, last in {(min(pair), max(pair)) for pair in arrows}:
        crossing[first + 1] += 1
        crossing[last + 1] -= 1
    for position in range(1, len(crossing)):
        crossing[position] += crossing[position - 1]
    return crossing


def _end(sizes: Sequence[int], crossing: Sequence[int], start: int, wanted: float) -> int:
    """The end of a section that begins at `start`: few arrows cross it, and it is close to the desired size."""
    best, least = len(sizes), float("inf")
    size = 0
    for end, own in enumerate(sizes[start:], start + 1):
        if size + own > wanted * (1 + _SLACK) and best < len(sizes):
            break
        size += own
        off = abs(size - wanted) / wanted
        if off <= _SLACK or size >= wanted:
            cost = crossing[end] + off
            if cost < least:
                best, least = end, cost
            if size > wanted * (1 + _SLACK):
                break
    return best
