"""What pairs of runs say of a change: its gain, how sure that is, and whether the numbers stayed the same."""

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from inspect_compile.facts.trials import NOT_COMPARED, Distance

LEAST: Final = 0.01
"""A gain below this part of a step is none: settings of Inductor that change nothing were measured at ±1 to 3 %."""

_STUDENT: Final = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)
"""Two-sided 95 % points of Student's t for 1 to 10 degrees of freedom (any table of it); 1.96 is its limit."""

_EPSILON: Final[Mapping[str, float]] = {
    "float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7,
    "complex64": 2.0**-23, "complex128": 2.0**-52,
}  # fmt: skip
_ROUNDINGS: Final = 16
"""So many roundings of the dtype, and `_TIMES` eager's own distance from the compiled program, may a result move."""
_TIMES: Final = 4.0
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


def spread(runs: Sequence[float]) -> float:
    """The standard deviation of runs of one program, in their order, as a part of their mean; 0 of a single run.

    From the differences of successive runs (the mean square successive difference of von Neumann, 1941), so that a
    machine that slowly becomes faster or slower does not count: what is compared runs one after the other, too.
    """
    if len(runs) < 2:
        return 0.0
    steps = [after - before for before, after in itertools.pairwise(runs)]
    return math.sqrt(statistics.mean(step * step for step in steps) / 2) / statistics.mean(runs)


def noise(runs: Sequence[float]) -> float:
    """The part of a step below which two runs of the same program differ, 19 times in 20."""
    return _student(len(runs) - 1) * spread(runs) * math.sqrt(2) if len(runs) > 1 else 0.0


def gain(pairs: Sequence[tuple[float, float]], runs: Sequence[float]) -> Gain:
    """The gain of a change from seconds of a step without and with it, each pair measured one after the other.

    `runs`: all runs of the program without it. How far single runs stray is taken from them and from the pairs
    together, since a few pairs alone say little about it.
    """
    ratios = [after / before for before, after in pairs]
    mean = statistics.mean(ratios)
    own = sum((ratio - mean) ** 2 for ratio in ratios)
    free = max(0, len(runs) - 1) + len(ratios) - 1
    # A ratio strays by what both of its runs do.
    strays = math.sqrt((own + 2 * (spread(runs) * mean) ** 2 * max(0, len(runs) - 1)) / free) if free else mean
    return Gain(1 - mean, _student(free) * strays / math.sqrt(len(ratios)), len(ratios))


def _student(free: int) -> float:
    return math.inf if free < 1 else _STUDENT[free - 1] if free <= len(_STUDENT) else 1.96 + 2.7 / free


class Numbers(msgspec.Struct, frozen=True):
    """Whether a changed program computes the same."""

    verdict: str
    words: str = ""
    """Which result moves most, and how far."""


def numbers(found: Sequence[Distance], again: Sequence[Distance], eager: Sequence[Distance]) -> Numbers:
    """Compare the results of a changed program with those of the program as it is.

    `again`: those of the program itself, run again; `eager`: those of the program without torch.compile, which tell how
    far rounding in another order moves each result.
    """
    if not found:
        return Numbers(NOT_COMPARED, "the program left no result that could be compared")
    moves = {one.name: one.error for one in again}
    if any(error > _RANDOM for error in moves.values()):
        return Numbers(RANDOM)
    by_eager = {one.name: one.error for one in eager if math.isfinite(one.error)}
    most, at = 0.0, None
    for one in found:
        roundings = _ROUNDINGS * _EPSILON.get(one.dtype, 0.0)
        allowed = max(_TIMES * by_eager.get(one.name, 0.0), _TIMES * moves.get(one.name, 0.0), roundings)
        part = one.error / allowed if allowed else math.inf if one.error else 0.0
        if part > most:
            most, at = part, one
    if at is None:
        return Numbers(EQUAL)
    far = "is another one" if math.isinf(at.error) else f"moves by {at.error:.1e} of its size"
    return Numbers(ROUNDING if most <= 1 else DIFFER, f"{at.name} {far}")
