"""Where the time of compiling went: torch's own timers, each without what is timed inside of it, by stage."""

from collections.abc import Iterable

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import Timed
from inspect_compile.knowledge.compile_stages import PROBES, STAGES, stage_of


class Part(msgspec.Struct, frozen=True, tag_field="fact", tag="time_part"):
    """One run of one of torch's timers."""

    graph: str
    """The compile id."""
    name: str
    stage: str
    start: float
    """Seconds since the first that was recorded began."""
    seconds: float
    """All of it, our probes and what is timed inside of it included."""
    own: float
    """Of them those of nothing that is timed inside of it, our probes left out."""
    probes: float
    """Of our probes, outside of all that is timed inside of it."""
    depth: int
    """How many others it ran inside of."""
    thread: int


class StageTime(msgspec.Struct, frozen=True, tag_field="fact", tag="stage_time"):
    """What one stage took, of one compile or of all."""

    graph: str
    """The compile id; empty for all compiles together."""
    stage: str
    seconds: float
    """Without what belongs to other stages, and without our probes, which are a stage of their own."""
    parts: int
    """Runs of timers that add up to it."""


def parts(dump: Dump) -> list[Part]:
    """All timers in the order in which they began; on each thread what one holds follows it."""
    rows = sorted(dump.rows(Timed), key=lambda row: (row.thread, row.start, -row.seconds))
    first = min((row.start for row in rows), default=0.0)
    inside: dict[int, float] = {}
    probes: dict[int, float] = {}
    depths: list[int] = []
    above: list[int] = []
    for position, row in enumerate(rows):
        while above and not _is_in(row, rows[above[-1]]):
            above.pop()
        depths.append(len(above))
        if above:
            inside[above[-1]] = inside.get(above[-1], 0.0) + row.seconds
            probes[above[-1]] = probes.get(above[-1], 0.0) + row.probes
        above.append(position)
    found: list[Part] = []
    for position, row in enumerate(rows):
        watching = min(max(row.probes - probes.get(position, 0.0), 0.0), row.seconds)
        left = max(row.seconds - inside.get(position, 0.0) - watching, 0.0)
        start = row.start - first
        stage = stage_of(row.name)
        found.append(Part(row.graph, row.name, stage, start, row.seconds, left, watching, depths[position], row.thread))
    return found


_SLACK = 2e-6
"""Starts and lengths are rounded."""


def _is_in(row: Timed, other: Timed) -> bool:
    return row.thread == other.thread and row.start + row.seconds <= other.start + other.seconds + _SLACK


def stage_times(found: Iterable[Part], graph: str = "") -> list[StageTime]:
    """What each stage took of these parts; our probes last."""
    seconds = dict.fromkeys(STAGES, 0.0)
    counts = dict.fromkeys(STAGES, 0)
    for part in found:
        seconds[part.stage] += part.own
        counts[part.stage] += 1
        seconds[PROBES] += part.probes
    return [
        StageTime(graph, stage, seconds[stage], counts[stage]) for stage in STAGES if seconds[stage] or counts[stage]
    ]


def total(found: Iterable[Part]) -> float:
    """Seconds of these parts that no other one holds."""
    return sum(part.seconds for part in found if not part.depth)
