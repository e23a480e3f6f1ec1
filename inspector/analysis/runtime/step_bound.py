"""What bounds a program, as far as the account of its step tells: one judgement, with its share of the step."""

from collections.abc import Iterable
from typing import Final

import msgspec

from inspect_compile.analysis.cost.roofline import COMPUTE
from inspect_compile.analysis.cost.roofline import MEMORY as BY_MEMORY
from inspect_compile.facts import StepAccount, StepTime
from inspect_compile.graph import grouped
from inspect_compile.knowledge.cost.step_kinds import (
    ARITHMETIC,
    COLLECTIVE,
    COMMUNICATION,
    COMPILING,
    COPIES,
    INPUT,
    LAUNCH_OVERHEAD,
    MEMORY,
    NOT_KNOWN,
    OVERHEAD,
    SYNCHRONISATION,
)

_OF_KINDS: Final = {
    COLLECTIVE: COMMUNICATION,
    COMPILING: COMPILING,
    COPIES: INPUT,
    INPUT: INPUT,
    OVERHEAD: LAUNCH_OVERHEAD,
    SYNCHRONISATION: SYNCHRONISATION,
}
_OF_ROOFLINE: Final = {COMPUTE: ARITHMETIC, BY_MEMORY: MEMORY}


class StepBound(msgspec.Struct, frozen=True, tag_field="fact", tag="step_bound"):
    """What bounds a program, or could: `attribute --json` prints one for each, the largest first."""

    bound: str
    """arithmetic, memory, launch overhead, synchronisation, communication, input, compiling, or not known: kernels of
    which no roofline is known and, without a GPU, time outside of operators.
    """
    seconds: float
    """Of one step."""
    share: float
    """Share of the step, between 0 and 1."""


class StepPart(msgspec.Struct, frozen=True):
    """All of one kind in a step: a row of the account."""

    kind: str
    seconds: float
    share: float
    """Share of the step, between 0 and 1."""
    idle: float
    """Seconds of it in which the GPU is idle."""
    hidden: float
    rows: tuple[StepTime, ...]
    """What it consists of, the longest first; times of one thing at several places are one."""


def step_parts(step: StepAccount, rows: Iterable[StepTime]) -> list[StepPart]:
    """The parts of a step by their kind, the longest first."""
    whole = step.seconds or 1.0
    found = []
    for kind, own in grouped(rows, lambda row: row.kind).items():
        seconds = sum(row.seconds for row in own)
        idle = sum(row.seconds for row in own if row.is_idle)
        named = grouped(own, lambda row: (row.what, row.where))
        one = sorted((_together(same) for same in named.values()), key=lambda row: -row.seconds)
        found.append(StepPart(kind, seconds, seconds / whole, idle, sum(row.hidden for row in own), tuple(one)))
    return sorted(found, key=lambda part: -part.seconds)


def _together(rows: list[StepTime]) -> StepTime:
    seconds, count = sum(row.seconds for row in rows), max(row.count for row in rows)
    return msgspec.structs.replace(rows[0], seconds=seconds, count=count)


def step_bounds(step: StepAccount, rows: Iterable[StepTime]) -> list[StepBound]:
    """The parts of a step by what bounds them, the largest first."""
    sums: dict[str, float] = {}
    for row in rows:
        bound = _OF_KINDS.get(row.kind) or _OF_ROOFLINE.get(row.bound, NOT_KNOWN)
        if row.is_idle and row.kind not in _OF_KINDS:
            bound = LAUNCH_OVERHEAD
        sums[bound] = sums.get(bound, 0.0) + row.seconds
    whole = step.seconds or 1.0
    found = [StepBound(bound, seconds, seconds / whole) for bound, seconds in sums.items() if seconds]
    return sorted(found, key=lambda one: -one.seconds)
