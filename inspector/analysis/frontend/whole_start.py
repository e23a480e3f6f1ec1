"""The start of a run with all its processes on one clock: what each was at, and what was at work in the others while
nothing is known of it.
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from inspect_compile.analysis.dumps.parts import ProcessDump, parts
from inspect_compile.analysis.frontend.startup import IMPORTS, LANES, Bar, Startup, lanes_of, process_start, startup
from inspect_compile.analysis.frontend.times import covered
from inspect_compile.dump import Dump
from inspect_compile.facts import Imported
from inspect_compile.graph import gathered

STARTING: Final = "process start"
"""From the system's start of the process to the first thing of ours in it: the interpreter, and for the first process
of a run the command itself.
"""
NOT_KNOWN: Final = "not known"
_FIRST: Final = "first process"
_ORDER: Final = (*LANES[1:], IMPORTS, STARTING)
"""Which lane names a second in which several processes are at work: compiles before imports."""


class RunProcess(msgspec.Struct, frozen=True, tag_field="fact", tag="startup_process"):
    """One process of a run; all times in seconds since the first of them started."""

    process: str
    """`first process`, `rank 0`, `process 4711`."""
    start: float
    """When the system started it, or where that is not known, when its recording began."""
    last: float
    """The end of its last compile, first call or import."""
    named: float
    """Seconds between these in which it was at something in a lane."""
    meanwhile: float
    """Other seconds, up to its end or that of the whole start, in which another process was: it may have waited."""
    not_known: float
    """What is left of them: the program's own code, as far as can be seen."""


class RunLane(msgspec.Struct, frozen=True, tag_field="fact", tag="startup_share"):
    """The part of the whole start that one kind of work of one process names. Each second counts once."""

    lane: str
    """`process start`, a lane, or `not known`."""
    process: str
    """Empty for what is not known."""
    seconds: float
    share: float
    """Of the whole start, between 0 and 1."""


class WholeStart(msgspec.Struct, frozen=True):
    """From the start of the first process to the last compile, or first call, of any."""

    seconds: float
    processes: tuple[RunProcess, ...]
    lanes: tuple[RunLane, ...]
    """The largest first, what is not known last."""

    @property
    def named(self) -> float:
        """The share that has a name, between 0 and 1."""
        return 1.0 - sum(row.share for row in self.lanes if row.lane == NOT_KNOWN)


def start_of_run(dump: Dump) -> Startup | None:
    """What `draw startup` draws: all processes on one clock; of one alone its own start, with what was left out."""
    whole = on_one_clock(dump) if dump.other_processes else None
    has_several = whole is not None and len({bar.process for bar in whole.bars}) > 1
    return whole if has_several else startup(dump)


def on_one_clock(dump: Dump) -> Startup | None:
    """The lanes of all processes of a run, in seconds since the first of them started; None as of `whole_start`."""
    bars = [bar for part in _processes_of(dump) for bar in _bars(part)]
    return _since(min(bar.start for bar in bars), bars) if bars else None


def whole_start(dump: Dump) -> WholeStart | None:
    """None where no process of the run has a known beginning and anything in a lane."""
    own = _processes_of(dump)
    bars = [bar for part in own for bar in _bars(part)]
    if not bars:
        return None
    began = min(bar.start for bar in bars)
    found = _since(began, bars)
    ends = {part.name: end - began for part in own if (end := _process_end(part.dump)) is not None}
    return WholeStart(found.seconds, tuple(_processes(found, ends)), tuple(_shares(found)))


def whole_start_rows(dump: Dump) -> Iterator[msgspec.Struct]:
    """Processes, and what names the seconds."""
    found = whole_start(dump)
    if found is not None:
        yield from found.processes
        yield from found.lanes


def _processes_of(dump: Dump) -> list[ProcessDump]:
    """The first process and the others; not what was compiled again, or for a GPU that was not there."""
    own = [part for part in parts(dump) if part.replay is None and not part.target]
    return [ProcessDump(dump, None, _FIRST), *own]


def _since(began: float, every: list[Bar]) -> Startup:
    """`every` in seconds since `began`, the start of the first one."""
    bars = [msgspec.structs.replace(bar, start=bar.start - began) for bar in every]
    of = gathered((bar.process, bar) for bar in bars)
    lanes = [lane for process, own in of.items() for lane in lanes_of(own, (STARTING, *LANES), process)]
    last = max(bar.start + bar.seconds for bar in bars)
    return Startup(tuple(bars), tuple(lanes), last, max(last - covered(_spans(bars)), 0.0), 0)


def _bars(part: ProcessDump) -> Iterator[Bar]:
    """Those of one process, in seconds since the epoch."""
    began, born = process_start(part.dump), part.dump.run.born
    if began is None:
        return
    if born is not None and born < began:
        yield Bar(STARTING, 0, "", STARTING, born, began - born, part.name)
    found = startup(part.dump)
    if found is not None:
        for bar in found.bars:
            yield msgspec.structs.replace(bar, start=began + bar.start, process=part.name)
    else:  # it imported, and compiled nothing
        for row in part.dump.rows(Imported):
            if math.isfinite(row.start) and math.isfinite(row.seconds) and row.seconds >= 0:
                yield Bar(IMPORTS, 0, "", row.module, row.start, row.seconds, part.name)


def _spans(bars: Iterable[Bar]) -> list[tuple[float, float]]:
    return [(bar.start, bar.start + bar.seconds) for bar in bars]


def _process_end(dump: Dump) -> float | None:
    """When its recording ended, in seconds since the epoch; None for one that was killed, or runs."""
    began, seconds = process_start(dump), dump.run.seconds
    return None if began is None or seconds is None else began + seconds


def _processes(found: Startup, ends: Mapping[str, float]) -> Iterator[RunProcess]:
    of = gathered((bar.process, bar) for bar in found.bars)
    for process, own in of.items():
        spans = _spans(own)
        start, last = min(spans)[0], max(end for _, end in spans)
        until = max(min(ends.get(process, found.seconds), found.seconds), last)
        every = [(max(a, start), min(b, until)) for a, b in _spans(found.bars) if b > start and a < until]
        named = covered(spans)
        meanwhile = max(covered(every) - named, 0.0)
        yield RunProcess(process, start, last, named, meanwhile, max(until - start - named - meanwhile, 0.0))


def _shares(found: Startup) -> Iterator[RunLane]:
    order = {lane: at for at, lane in enumerate(_ORDER)}
    rank = {process: at for at, process in enumerate(dict.fromkeys(bar.process for bar in found.bars))}
    seconds = _attributed(
        (bar.start, bar.start + bar.seconds, order[bar.lane], rank[bar.process], (bar.lane, bar.process))
        for bar in found.bars
    )
    whole = found.seconds
    for (lane, process), took in sorted(seconds.items(), key=lambda one: -one[1]):
        yield RunLane(lane, process, took, took / whole if whole > 0 else 0.0)
    left = max(whole - math.fsum(seconds.values()), 0.0)
    yield RunLane(NOT_KNOWN, "", left, left / whole if whole > 0 else 0.0)


def _attributed(spans: Iterable[tuple[float, float, int, int, tuple[str, str]]]) -> dict[tuple[str, str], float]:
    """Each moment counts for the running span that comes first by its order; n log n."""
    waiting = sorted(spans, key=lambda one: one[0])
    running: list[tuple[int, int, float, tuple[str, str]]] = []
    seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
    now, at = -math.inf, 0
    while at < len(waiting) or running:
        while running and running[0][2] <= now:
            heapq.heappop(running)
        if not running:
            if at == len(waiting):
                break
            now = max(now, waiting[at][0])
        while at < len(waiting) and waiting[at][0] <= now:
            _, end, lane, process, name = waiting[at]
            heapq.heappush(running, (lane, process, end, name))
            at += 1
        while running and running[0][2] <= now:
            heapq.heappop(running)
        if running:
            until = min(running[0][2], waiting[at][0] if at < len(waiting) else math.inf)
            seconds[running[0][3]] += until - now
            now = until
    return seconds
