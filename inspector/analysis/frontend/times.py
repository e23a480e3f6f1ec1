"""Where compile time went: torch's own timers, each without the timers inside it, and by stage."""

import math
from collections.abc import Iterable, Iterator

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import Timed
from inspect_compile.graph import gathered, short
from inspect_compile.knowledge.frontend.compile_stages import PROBES, STAGES, stage_of

_SLACK = 2e-6
"""Tolerance for rounding of starts and durations."""


class TimerRun(msgspec.Struct, frozen=True, tag_field="fact", tag="time_part"):
    """One run of one of torch's timers."""

    graph: str
    """The compile id."""
    name: str
    stage: str
    start: float
    """Start in seconds since the first recorded timer began."""
    seconds: float
    """Duration, including probes and the timers inside it."""
    own: float
    """Duration without the timers inside it and without probes."""
    probes: float
    """Time of probes in it, outside of the timers inside it."""
    depth: int
    """Nesting depth."""
    thread: int
    place: str = ""
    """Of a call that exports, compiles ahead of time, saves or loads, the program's line: `train.py:12`."""


class StageTime(msgspec.Struct, frozen=True, tag_field="fact", tag="stage_time"):
    """The time of one stage, in one compile or in all."""

    graph: str | None
    """The compile id, empty for what ran in no specific compile; None for all compiles together."""
    stage: str
    seconds: float
    """Time without other stages and without probes, which are a separate stage.

    What ran on several threads at a time counts once.
    """
    parts: int
    """Number of timer runs that add up to it."""
    share: float
    """Its part of the time of all stages, between 0 and 1."""


def parts(dump: Dump) -> list[TimerRun]:
    """All timers in the order in which they began; on each thread, a timer is followed by those inside it."""
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
    found: list[TimerRun] = []
    for position, row in enumerate(rows):
        watching = min(max(row.probes - probes.get(position, 0.0), 0.0), row.seconds)
        left = max(row.seconds - inside.get(position, 0.0) - watching, 0.0)
        start = row.start - first
        stage = stage_of(row.name)
        found.append(
            TimerRun(
                row.graph,
                row.name,
                stage,
                start,
                row.seconds,
                left,
                watching,
                depths[position],
                row.thread,
                "" if row.where is None else short(row.where),
            )
        )
    return found


def _is_in(row: Timed, other: Timed) -> bool:
    return row.thread == other.thread and row.start + row.seconds <= other.start + other.seconds + _SLACK


def stage_times(found: Iterable[TimerRun], graph: str | None = None) -> list[StageTime]:
    """The time of each stage in these parts, probes last; they add up to `total`.

    Threads that build kernels run beside the one that waits for them: time in which several run is divided among them.
    """
    rows = list(found)
    seconds = dict.fromkeys(STAGES, 0.0)
    counts = dict.fromkeys(STAGES, 0)
    for part in rows:
        counts[part.stage] += 1
    spans = pieces(rows)
    shares = _shares([(start, end) for _, start, end in spans])
    exposed: dict[int, float] = {}
    for position, start, end in spans:
        exposed[position] = exposed.get(position, 0.0) + end - start
    for (position, _, _), share in zip(spans, shares, strict=True):
        part = rows[position]
        watching = share * min(part.probes / exposed[position], 1.0) if exposed[position] > 0 else 0.0
        seconds[part.stage] += share - watching
        seconds[PROBES] += watching
    whole = total(rows) or sum(seconds.values())
    return [
        StageTime(graph, stage, seconds[stage], counts[stage], _share(seconds[stage], whole))
        for stage in STAGES
        if seconds[stage] or counts[stage]
    ]


def _share(seconds: float, whole: float) -> float:
    return max(0.0, min(seconds / whole, 1.0)) if 0 < whole < math.inf else 0.0


def total(found: Iterable[TimerRun]) -> float:
    """Seconds in which at least one of these parts ran."""
    return covered([(part.start, part.start + part.seconds) for part in found if not part.depth])


def compile_seconds(found: Iterable[TimerRun]) -> dict[str, float]:
    """Compile → seconds from its beginning to its end, without pauses; parallel compiles count fully.

    The empty key has what ran outside of compiles, and of calls that have a place: threads that build kernels do not
    say for which one.
    """
    tops = list(_outermost(found))
    spans = gathered((part.graph, _span(part)) for part in tops if not part.place)
    seconds = {graph: covered(own) for graph, own in spans.items()}
    if "" in spans:
        named = [_span(part) for part in tops if part.graph or part.place]
        seconds[""] = max(covered([*named, *spans[""]]) - covered(named), 0.0)
    return {graph: one for graph, one in seconds.items() if graph or one}


def ahead(found: Iterable[TimerRun]) -> list[TimerRun]:
    """The calls that export, compile ahead of time, save and load, but for those in another one."""
    return [part for part in _outermost(found) if part.place]


def _outermost(found: Iterable[TimerRun]) -> Iterator[TimerRun]:
    """The parts that are in none of the same compile, and of the calls with a place those that are in no other;
    `found` as in `parts`.
    """
    above: list[tuple[str, bool]] = []
    for part in found:
        del above[part.depth :]
        own = part.graph, bool(part.place)
        if own not in above:
            yield part
        above.append(own)


def _span(part: TimerRun) -> tuple[float, float]:
    return part.start, part.start + part.seconds


def pieces(rows: list[TimerRun]) -> list[tuple[int, float, float]]:
    """(position of a part, from, to) of the intervals in which nothing ran inside it; `rows` as in `parts`."""
    found: list[tuple[int, float, float]] = []
    open_: list[tuple[int, float]] = []
    """Running parts, each with its end, which is not after that of the enclosing one."""
    at = 0.0

    def until(end: float) -> None:
        nonlocal at
        if end > at:
            found.append((open_[-1][0], at, end))
            at = end

    def close(before: float) -> None:
        while open_ and open_[-1][1] <= before:
            until(open_[-1][1])
            open_.pop()

    thread = None
    for position, row in enumerate(rows):
        if row.thread != thread:
            close(math.inf)
            thread, at = row.thread, row.start
        close(row.start)
        if open_:
            until(row.start)
        at = max(at, row.start) if open_ else row.start
        end = row.start + row.seconds
        open_.append((position, min(end, open_[-1][1]) if open_ else end))
    close(math.inf)
    return found


def _shares(spans: list[tuple[float, float]]) -> list[float]:
    """Seconds of each span; where spans overlap, they share the time equally."""
    edges = sorted({edge for span in spans for edge in span})
    change = dict.fromkeys(edges, 0)
    for start, end in spans:
        change[start] += 1
        change[end] -= 1
    gone: dict[float, float] = {}
    share, running, last = 0.0, 0, 0.0
    for edge in edges:
        share += (edge - last) / running if running > 0 else 0.0
        gone[edge], last = share, edge
        running += change[edge]
    return [gone[end] - gone[start] for start, end in spans]


def covered(spans: list[tuple[float, float]]) -> float:
    """Seconds covered by at least one span."""
    seconds, reached = 0.0, -math.inf
    for start, end in sorted(spans):
        if end > reached:
            seconds += end - max(start, reached)
            reached = end
    return seconds
