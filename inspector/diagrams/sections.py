"""Where a long schedule is cut into sections.

`dot` needs far more than twice the time for twice the nodes: sections of one size are laid out one by one, so that the
time grows with their number. They also keep a long schedule from being one column a hundred times as high as wide.
"""

from collections.abc import Sequence
from typing import Final

LONGEST: Final = 48
"""Operations that stand in one section without being cut."""

_WANTED: Final = 34
"""Operations in a section of a longer schedule."""

_SLACK: Final = 0.4
"""How far, in parts of a section, a cut may move to a place where fewer arrows cross it."""


def cuts(sizes: Sequence[int], arrows: Sequence[tuple[int, int]]) -> list[range]:
    """Positions of units by section. `sizes` are operations in each unit, `arrows` go from position to position."""
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
    """For each position how many arrows pass from before it to it or beyond."""
    crossing = [0] * (number + 1)
    for first, last in {(min(pair), max(pair)) for pair in arrows}:
        crossing[first + 1] += 1
        crossing[last + 1] -= 1
    for position in range(1, len(crossing)):
        crossing[position] += crossing[position - 1]
    return crossing


def _end(sizes: Sequence[int], crossing: Sequence[int], start: int, wanted: float) -> int:
    """The end of a section that begins at `start`: few arrows cross it, and it is not far from the wanted size."""
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
