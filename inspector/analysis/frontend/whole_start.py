"""The start of a run with all its processes on one clock: what each was at, who waited for whom, what has no name."""

import heapq
import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from inspect_compile.analysis.frontend.process_lives import (
    FOR_OTHERS,
    Life,
    children_of,
    lives,
    readiness,
    taking_down,
    uses,
)
from inspect_compile.analysis.frontend.startup import (
    IMPORTS,
    LANES,
    Bar,
    Lane,
    Startup,
    lanes_of,
    merged,
    process_start,
    startup,
    without,
)
from inspect_compile.analysis.frontend.times import covered
from inspect_compile.dump import Dump
from inspect_compile.graph import gathered

STARTING: Final = "process start"
"""From the system's start of the process to the first thing of ours in it: the interpreter, and for the first process
of a run the command itself.
"""
OWN: Final = "own code"
"""The main thread was on a processor, and at nothing that is in a lane."""
QUEUED: Final = "no processor"
"""It was ready to run, and others had the processors."""
WAITING: Final = "waiting"
"""It was on none, and one that it had started, or that had started it, was at work."""
ENDING: Final = "taking down"
"""What a process does behind its last exit handler: torch is unloaded, memory is given back."""
NOT_KNOWN: Final = "not known"
_ALL_LANES: Final = (STARTING, *LANES, OWN, QUEUED, WAITING, ENDING)
_ORDER: Final = (*LANES[1:], IMPORTS, STARTING, ENDING, OWN, QUEUED)
"""Which lane names a second in which several processes are at work: compiles before imports, these before own code."""

Span = tuple[float, float]


class RunProcess(msgspec.Struct, frozen=True, tag_field="fact", tag="startup_process"):
    """One process of a run; all times in seconds since the first of them started."""

    process: str
    """`first process`, `rank 0`, `process 4711, serve.py`."""
    start: float
    """When the system started it, or where that is not known, when its recording began."""
    last: float
    """The end of its last compile, first call or import."""
    named: float
    """Seconds from `start` to its end, or to that of the whole start, in which it was at something in a lane."""
    own: float
    """Of the others, those in which its main thread was on a processor: the program's own code."""
    queued: float
    """Of the others, those in which it was ready to run and had no processor; as far as Linux says."""
    meanwhile: float
    """Of the others, those in which another process was at work: it waited, or nothing is known of it."""
    not_known: float
    """What is left of them."""


class RunWait(msgspec.Struct, frozen=True, tag_field="fact", tag="startup_wait"):
    """Seconds in which a process was on no processor while another one was at work that it had started, itself or by
    others, or that had so started it. Each second counts once, for a process that it started itself before others.
    """

    process: str
    waits_for: str
    """The other process."""
    seconds: float
    waits_in: str
    """The function of Linux's kernel that it was seen to wait in for most of them; empty where nobody saw that."""


class RunLane(msgspec.Struct, frozen=True, tag_field="fact", tag="startup_share"):
    """The part of the whole start that one kind of work of one process names. Each second counts once."""

    lane: str
    """`process start`, a lane, `own code`, `taking down` or `not known`."""
    process: str
    """Empty for what is not known."""
    seconds: float
    share: float
    """Of the whole start, between 0 and 1."""


class WholeStart(msgspec.Struct, frozen=True):
    """From the start of the first process to the moment in which the run was ready, or where that is not known, to the
    last compile, or first call, of any.
    """

    seconds: float
    ready: str
    """What the run was asked to see as its end, a text or `:8000`; empty if nothing."""
    is_ready: bool
    """Whether that was seen."""
    processes: tuple[RunProcess, ...]
    waits: tuple[RunWait, ...]
    """The longest first."""
    lanes: tuple[RunLane, ...]
    """The largest first, what is not known last."""
    startup: Startup
    """The lanes of all processes, in seconds since the first of them started."""
    first: Startup | None
    """Those of the first process, in seconds since its recording began; None where torch has timed nothing there."""

    @property
    def named(self) -> float:
        """The share that has a name, between 0 and 1."""
        return 1.0 - self.not_known.share

    @property
    def not_known(self) -> RunLane:
        """What has none."""
        return self.lanes[-1]

    @property
    def lanes_and_rest(self) -> tuple[Lane, ...]:
        """The lanes, and what has no name as the last one."""
        return *self.startup.lanes, Lane(NOT_KNOWN, 0.0, self.seconds, self.not_known.seconds, 0)


class _Process(msgspec.Struct, frozen=True):
    """One process on the clock of the run."""

    life: Life
    start: float
    bars: list[Bar]
    """Without what it waited for."""
    idle: list[tuple[float, float, str]]
    """When it was on no processor and at nothing: start, end and the kernel's function it was seen to wait in."""
    end: float | None
    """When it ended; None for one that goes on."""

    @property
    def name(self) -> str:
        return self.life.name


def start_of_run(dump: Dump) -> Startup | None:
    """What `draw startup` draws: all processes on one clock. None where one alone has compiled nothing."""
    found = whole_start(dump)
    is_drawn = found is not None and (len(found.processes) > 1 or found.first is not None)
    return found.startup if found is not None and is_drawn else None


def whole_start(dump: Dump) -> WholeStart | None:
    """None where no process of the run has a known beginning and anything in a lane."""
    found = lives(dump)
    own = {life.name: startup(life.part) for life in found if life.part is not None}
    found = [life for life in found if _is_anything(life, own.get(life.name))]
    if not found:
        return None
    began = min(life.start for life in found)
    text, ready = readiness(dump)
    is_ready = ready is not None and ready > began
    if ready is not None and is_ready:
        found = [life for life in found if life.start < ready]
    compiled = [_compiled(life, own.get(life.name), began) for life in found]
    seconds = max((bar.start + bar.seconds for bars in compiled for bar in bars), default=0.0)
    if ready is not None and is_ready:
        seconds = ready - began
        compiled = [list(_until(seconds, bars)) for bars in compiled]
    processes = _on_the_clock(found, compiled, began, seconds)
    waits = _Waits(processes)
    bars = [bar for one in processes for bar in (*one.bars, *waits.bars(one))]
    lanes = [lane for one in processes for lane in lanes_of((*one.bars, *waits.bars(one)), _ALL_LANES, one.name)]
    work = merged(_spans(bar for bar in bars if bar.lane != WAITING))
    if len(processes) == 1:
        bars = [msgspec.structs.replace(bar, process="") for bar in bars]
        lanes = [msgspec.structs.replace(lane, process="") for lane in lanes]
    first = own.get(found[0].name)
    return WholeStart(
        seconds,
        text,
        is_ready,
        tuple(_row(one, work, seconds) for one in processes),
        tuple(sorted(waits.rows(), key=lambda row: -row.seconds)),
        tuple(_shares(processes, seconds)),
        Startup(
            tuple(bars),
            tuple(lanes),
            seconds,
            max(seconds - covered(work), 0.0),
            0 if first is None else first.unplaced,
            is_ready,
        ),
        first,
    )


def whole_start_rows(found: WholeStart) -> Iterator[msgspec.Struct]:
    """Processes, who waited for whom, and what names the seconds."""
    yield from found.processes
    yield from found.waits
    yield from found.lanes


def _is_anything(life: Life, own: Startup | None) -> bool:
    return own is not None or bool(life.imports or life.stretches) or life.start < life.began


def _compiled(life: Life, own: Startup | None, began: float) -> list[Bar]:
    """Its start, its imports and its compiles."""
    bars = []
    if life.start < life.began:
        bars.append(Bar(STARTING, 0, "", STARTING, life.start - began, life.began - life.start, life.name))
    if own is not None and life.part is not None and (zero := process_start(life.part)) is not None:
        for bar in own.bars:
            bars.append(msgspec.structs.replace(bar, start=zero - began + bar.start, process=life.name))
    else:
        for span in life.imports:
            bars.append(Bar(IMPORTS, 0, "", span.module, span.start - began, span.seconds, life.name))
    return bars


def _until(seconds: float, bars: Iterable[Bar]) -> Iterator[Bar]:
    for bar in bars:
        if bar.start < seconds:
            yield msgspec.structs.replace(bar, seconds=min(bar.seconds, seconds - bar.start))


def _on_the_clock(found: Sequence[Life], compiled: Sequence[list[Bar]], began: float, seconds: float) -> list[_Process]:
    """The processes with all that fills their time up to `seconds`."""
    by_pid = {life.pid: life for life in found}
    children = children_of(found)
    used = {
        life.pid: list(uses(life, [look for child in children.get(life.pid, ()) for look in child.seen]))
        for life in found
    }
    processes = []
    for life, bars in zip(found, compiled, strict=True):
        waited = [use.idle for use in used.get(life.parent, ()) if use.waits_in.startswith(FOR_OTHERS)]
        took = taking_down(life, by_pid.get(life.parent), children.get(life.parent, ()), waited)
        end = None if life.last is None or not life.has_ended else life.last + (took or 0.0) - began
        if life.last is not None and took and life.last - began < seconds:
            start = life.last - began
            bars = [*bars, Bar(ENDING, 0, "", ENDING, start, min(took, seconds - start), life.name)]
        taken = merged((bar.start, bar.start + bar.seconds) for bar in bars)
        own: list[Bar] = []
        idle: list[tuple[float, float, str]] = []
        for use in used[life.pid]:
            for a, b in without((use.start - began, min(use.end - began, seconds)), taken):
                # Where in it the process was at work is not known: at the end.
                at = b - (b - a) * use.main
                ready = max(at - (b - a) * use.queued, a)
                if ready > a:
                    idle.append((a, ready, use.waits_in))
                if at > ready:
                    own.append(Bar(QUEUED, 0, "", QUEUED, ready, at - ready, life.name))
                if b > at:
                    own.append(Bar(OWN, 0, "", OWN, at, b - at, life.name))
        processes.append(_Process(life, life.start - began, [*bars, *own], idle, end))
    return processes


class _Waits:
    """Who waited for whom: while a process is on no processor, those that are at work and that it started, itself or by
    others, or that so started it; its own children first.
    """

    def __init__(self, processes: Sequence[_Process]) -> None:
        self._bars: dict[str, list[Bar]] = {}
        self._rows: defaultdict[tuple[str, str, str], float] = defaultdict(float)
        work = {one.name: merged(_spans(one.bars)) for one in processes}
        parents = {one.life.pid: one.life.parent for one in processes}
        above = {pid: _above(pid, parents) for pid in parents}
        for one in processes:
            rank = sorted(
                (
                    other
                    for other in processes
                    if one.life.pid in above[other.life.pid] or other.life.pid in above[one.life.pid]
                ),
                key=lambda other: (other.life.parent != one.life.pid, other.life.pid != one.life.parent),
            )
            spans = [
                (a, b, at, 0, (other.name, waits_in))
                for start, end, waits_in in one.idle
                for at, other in enumerate(rank)
                for a, b in _within((start, end), work[other.name])
            ]
            pieces = _pieces(spans)
            self._bars[one.name] = [
                Bar(WAITING, 0, "", _waiting(name, waits_in), a, b - a, one.name) for a, b, (name, waits_in) in pieces
            ]
            for a, b, (name, waits_in) in pieces:
                self._rows[one.name, name, waits_in] += b - a

    def bars(self, one: _Process) -> list[Bar]:
        """Its lane."""
        return self._bars[one.name]

    def rows(self) -> Iterator[RunWait]:
        """One for each two processes."""
        of = gathered(((a, b), (seconds, waits_in)) for (a, b, waits_in), seconds in self._rows.items())
        for (process, waits_for), own in of.items():
            yield RunWait(process, waits_for, math.fsum(seconds for seconds, _ in own), max(own)[1])


def _above(pid: int, parents: Mapping[int, int]) -> set[int]:
    """The processes that led to one."""
    found: set[int] = set()
    while (pid := parents.get(pid, 0)) and pid not in found:
        found.add(pid)
    return found


def _waiting(name: str, waits_in: str) -> str:
    return f"for {name} ({waits_in})" if waits_in else f"for {name}"


def _spans(bars: Iterable[Bar]) -> list[Span]:
    return [(bar.start, bar.start + bar.seconds) for bar in bars]


def _within(span: Span, spans: Sequence[Span]) -> Iterator[Span]:
    """What lies in `span`; `spans` are sorted and do not overlap."""
    for at in range(max(bisect_left(spans, (span[0], -math.inf)) - 1, 0), len(spans)):
        a, b = spans[at]
        if a >= span[1]:
            return
        if b > span[0]:
            yield max(a, span[0]), min(b, span[1])


def _row(one: _Process, work: Sequence[Span], seconds: float) -> RunProcess:
    spans = _spans(one.bars)
    in_lanes = _spans(bar for bar in one.bars if bar.lane not in (OWN, QUEUED))
    own = math.fsum(bar.seconds for bar in one.bars if bar.lane == OWN)
    last = max(
        (bar.start + bar.seconds for bar in one.bars if bar.lane not in (OWN, QUEUED, ENDING)), default=one.start
    )
    until = max(seconds if one.end is None else min(one.end, seconds), last)
    named, at_work = covered(in_lanes), covered(spans)
    meanwhile = max(covered([*spans, *_within((one.start, until), work)]) - at_work, 0.0)
    not_known = max(until - one.start - at_work - meanwhile, 0.0)
    queued = max(at_work - named - own, 0.0)
    return RunProcess(one.name, one.start, last, named, own, queued, meanwhile, not_known)


def _shares(processes: Sequence[_Process], whole: float) -> Iterator[RunLane]:
    order = {lane: at for at, lane in enumerate(_ORDER)}
    seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
    every = (
        (bar.start, bar.start + bar.seconds, order[bar.lane], rank, (bar.lane, bar.process))
        for rank, one in enumerate(processes)
        for bar in one.bars
    )
    for a, b, name in _pieces(every):
        seconds[name] += b - a
    for (lane, process), took in sorted(seconds.items(), key=lambda one: -one[1]):
        yield RunLane(lane, process, took, took / whole if whole > 0 else 0.0)
    left = max(whole - math.fsum(seconds.values()), 0.0)
    yield RunLane(NOT_KNOWN, "", left, left / whole if whole > 0 else 0.0)


def _pieces(
    spans: Iterable[tuple[float, float, int, int, tuple[str, str]]],
) -> list[tuple[float, float, tuple[str, str]]]:
    """Each moment for the running span that comes first by its order: start, end and its name; n log n."""
    waiting = sorted(spans, key=lambda one: one[0])
    running: list[tuple[int, int, float, tuple[str, str]]] = []
    pieces: list[tuple[float, float, tuple[str, str]]] = []
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
            name = running[0][3]
            if pieces and pieces[-1][1:] == (now, name):
                pieces[-1] = pieces[-1][0], until, name
            else:
                pieces.append((now, until, name))
            now = until
    return pieces
