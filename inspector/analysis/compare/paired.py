"""What pairs of runs say of a change: its gain, how sure that is, and whether the numbers stayed the same."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from inspect_compile.facts.trials import NOT_COMPARED, RETURNED, Distance, Window

LEAST: Final = 0.01
"""A gain below this part of a step is none: settings of Inductor that change nothing were measured at ±1 to 3 %."""

_STUDENT: Final = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)
"""Two-sided 95 % points of Student's t for 1 to 10 degrees of freedom (any table of it); 1.96 is its limit."""

_EPSILON: Final[Mapping[str, float]] = {
    "float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7,
    "complex64": 2.0**-23, "complex128": 2.0**-52,
}  # fmt: skip
_ROUNDINGS: Final = 16
"""So many roundings of the dtype may a result move, and so many times what a rounding of the parameters moves it by;"""
_TIMES: Final = 4.0
"""and so many times what it moves by in another run, and without torch.compile."""
_RANDOM: Final = 0.05
"""From this distance on between two runs of the same program its results cannot be compared."""

EQUAL: Final = "equal"
ROUNDING: Final = "rounding"
DIFFER: Final = "differ"
RANDOM: Final = "differ from run to run"


class Gain(NamedTuple):
    """What a change saves of a step, as parts of it."""

    part: float
    plus_minus: float
    pairs: int


def ratio(before: Sequence[Window], after: Sequence[Window]) -> float | None:
    """A step's time with a change as a multiple of that without it, of two runs beside each other.

    The mean of the middle half of the ratios of windows of the same turn, which lie next to each other in time: a clock
    that jumps between two speeds is averaged, and what something else did meanwhile left out. None if there are none.
    """
    without = {window.turn: window.seconds for window in before}
    both = sorted(
        math.log(window.seconds / without[window.turn])
        for window in after
        if without.get(window.turn) and window.seconds
    )
    out = len(both) // 4
    return math.exp(statistics.mean(both[out : len(both) - out])) if both else None


def noise(same: Sequence[float], pairs: int) -> float:
    """The part of a step below which the mean of so many ratios says nothing: 19 in 20 of a program to itself are
    nearer to 1. `same`: ratios of the program to itself.
    """
    if not same:
        return 0.0
    return _student(len(same)) * math.sqrt(statistics.mean((one - 1) ** 2 for one in same) / pairs)


def gain(ratios: Sequence[float], same: Sequence[float]) -> Gain:
    """The gain of a change from its ratios.

    `same`: ratios of the program to itself, of which 1 is known to be the true one. How far single ratios stray is
    taken from both together, since a few alone say little about it.
    """
    mean = statistics.mean(ratios)
    own = sum((one - mean) ** 2 for one in ratios)
    free = len(same) + len(ratios) - 1
    strays = math.sqrt((own + mean * mean * sum((one - 1) ** 2 for one in same)) / free) if free else mean
    return Gain(1 - mean, _student(free) * strays / math.sqrt(len(ratios)), len(ratios))


def _student(free: int) -> float:
    return math.inf if free < 1 else _STUDENT[free - 1] if free <= len(_STUDENT) else 1.96 + 2.7 / free


class Numbers(msgspec.Struct, frozen=True):
    """Whether a changed program computes the same."""

    verdict: str
    words: str = ""
    """Which result moves most, and how far."""


class Moves(msgspec.Struct):
    """How far results of a program move from those of its first run, though nothing of its numbers was changed."""

    again: dict[str, float] = {}
    """When it is run again."""
    eager: dict[str, float] = {}
    """Without torch.compile: the same arithmetic in another order."""
    nudged: dict[str, float] = {}
    """With each parameter moved by one rounding before each step."""

    def allowed(self, name: str) -> float:
        """How far a change may move this result."""
        times = ((self.again, _TIMES), (self.eager, _TIMES), (self.nudged, _ROUNDINGS))
        return max((many * moved for moves, many in times if math.isfinite(moved := moves.get(name, 0.0))), default=0.0)


def farthest(runs: Iterable[Sequence[Distance]]) -> dict[str, float]:
    """Result → the farthest that it was from the reference in any of these runs."""
    found: dict[str, float] = {}
    for run in runs:
        for one in run:
            found[one.name] = max(found.get(one.name, 0.0), one.error)
    return found


def numbers(found: Sequence[Distance], moves: Moves) -> Numbers:
    """Compare the results of a changed program with those of the program as it is.

    A result that the program itself moves by more than `_RANDOM` cannot be compared: the gradient of a bias before a
    BatchNorm is nothing but rounding.
    """
    if not found:
        return Numbers(NOT_COMPARED, "the program left no result to compare")
    left = [one for one in found if moves.again.get(one.name, 0.0) <= _RANDOM]
    results = [one for one in found if one.name.startswith(RETURNED)] or found  # a program may compile nothing
    if not any(one in left for one in results):
        return Numbers(RANDOM)
    most, at = 0.0, None
    for one in left:
        allowed = max(moves.allowed(one.name), _ROUNDINGS * _EPSILON.get(one.dtype, 0.0))
        part = one.error / allowed if allowed else math.inf if one.error else 0.0
        if part > most:
            most, at = part, one
    beside = f"{len(found) - len(left)} of {len(found)} {RANDOM}" if len(left) < len(found) else ""
    if at is None:
        return Numbers(EQUAL, beside)
    far = f"{at.name} is different" if math.isinf(at.error) else f"{at.name} moves by {at.error:.1e} of its size"
    return Numbers(ROUNDING if most <= 1 else DIFFER, "; ".join(filter(None, (far, beside))))
