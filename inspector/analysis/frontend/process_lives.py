"""What is known of each process of a run, whether it has a part of the dump or left a line only."""

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final

import msgspec

from inspect_compile.analysis.dumps.parts import ProcessDump, parts
from inspect_compile.analysis.frontend.startup import process_start
from inspect_compile.dump import Dump
from inspect_compile.facts import (
    Imported,
    ImportSpan,
    ParentSeen,
    ProcessEnd,
    ProcessLife,
    Ready,
    Stretch,
    StretchSpan,
)
from inspect_compile.graph import gathered

FIRST: Final = "first process"
MOST: Final = 200
"""Processes that are looked at: those that lived longest, and those with a part. A run may start any number."""
FOR_OTHERS: Final = (
    "do_wait",
    "pipe_read",
    "anon_pipe_read",
    "poll_schedule_timeout",
    "ep_poll",
    "unix_stream_data_wait",
)
"""What the functions of Linux's kernel begin with in which a process waits for the end of another one that it started,
or for what that prints, which ends with it.
"""
_SHARED: Final = 4.0
"""A process that takes itself down gets a quarter of a processor at least."""
_TICK: Final = 0.02
"""Seconds by which the start of a process that the system gives is too early at most."""
_SLACK: Final = 0.05
"""Seconds of processor time by which two clocks of one thread differ at most: one counts in steps of 0.01 s."""


class Life(msgspec.Struct, frozen=True):
    """One process; all times in seconds since the epoch."""

    name: str
    """`first process`, `rank 0`, `process 4711, serve.py`."""
    pid: int
    parent: int
    """The process id of its parent; 0 if not known."""
    part: Dump | None
    born: float | None
    """When the system started it."""
    began: float
    """When it was first watched."""
    last: float | None
    """When it told last; None if it never did."""
    has_ended: bool
    """Whether `last` was its end but for taking itself down."""
    gone: float | None
    """When it was gone, where another one saw that."""
    used: float
    """Seconds of processor time until `last`, those of processes that it waited for included."""
    imports: tuple[ImportSpan | Imported, ...]
    stretches: tuple[StretchSpan | Stretch, ...]
    """In order."""
    seen: tuple[ParentSeen, ...]
    """What it saw of its parent."""

    @property
    def start(self) -> float:
        """When the system started it, or where that is not known, when it was first watched."""
        return self.began if self.born is None else min(self.born, self.began)


class Use(msgspec.Struct, frozen=True):
    """A time in which nothing that is watched began or ended in a process, and what it used of the processors."""

    start: float
    end: float
    main: float
    """Of the main thread, as a share of the time, between 0 and 1."""
    queued: float
    """The share of the time in which that was ready to run and had no processor; 0 where that is not known, too."""
    waits_in: str
    """The function of the kernel that it was seen to wait in at the beginning; empty if nobody saw that."""

    @property
    def idle(self) -> "Use":
        """The part in which the main thread was on no processor. Where in it that was is not known: before the rest."""
        end = self.end - (self.end - self.start) * min(self.main + self.queued, 1.0)
        return msgspec.structs.replace(self, end=end, main=0.0, queued=0.0)


def lives(dump: Dump) -> list[Life]:
    """The processes of a run, the first one first, then those with a part, then the others as they began."""
    rows = gathered((row.pid, row) for row in dump.rows(ProcessLife) if _is_time(row.started) and _is_time(row.last))
    gone = {row.pid: row.at for row in dump.rows(ProcessEnd) if _is_time(row.at)}
    with_part = [ProcessDump(dump, None, FIRST), *(part for part in parts(dump) if _is_own(part))]
    found = [
        _life(rows.pop(part.dump.run.pid, []), gone.get(part.dump.run.pid), part)
        for part in with_part
        if process_start(part.dump) is not None
    ]
    others = [_life(own, gone.get(pid), None) for pid, own in rows.items()]
    longest = sorted(others, key=lambda life: life.began - (life.gone or life.last or life.began))
    return [*found, *sorted(longest[:MOST], key=lambda life: life.start)]


def _is_own(part: ProcessDump) -> bool:
    """Not what was compiled again, or for a GPU that was not there."""
    return part.replay is None and not part.target


def _life(rows: list[ProcessLife], gone: float | None, part: ProcessDump | None) -> Life:
    rows = sorted(rows, key=lambda row: row.last)
    run = None if part is None else part.dump.run
    began = None if part is None else process_start(part.dump)
    name = next((row.name for row in reversed(rows) if row.name), "")
    if part is None:
        called = f"process {rows[0].pid}"
        spans: Iterable[ImportSpan | Imported] = (span for row in rows for span in row.imports)
        stretches: list[StretchSpan | Stretch] = []
    else:
        called = part.name
        spans = part.dump.rows(Imported)
        stretches = [*part.dump.rows(Stretch)]
    stretches += (span for row in rows for span in row.stretches)
    last = rows[-1].last if rows else None
    if not rows and run is not None and began is not None and run.seconds is not None:
        last = began + run.seconds
    born = [one for one in (None if run is None else run.born, *(row.born for row in rows)) if one is not None]
    return Life(
        called if called == FIRST or not name else f"{called}, {name}",
        rows[0].pid if run is None else run.pid,
        (0 if run is None else run.parent_pid) or next((row.parent_pid for row in rows), 0),
        None if part is None else part.dump,
        next((one for one in born if _is_time(one)), None),
        rows[0].started if began is None else began,
        last,
        rows[-1].is_last if rows else last is not None,
        gone,
        rows[-1].used if rows else 0.0,
        tuple(span for span in spans if _is_span(span.start, span.seconds)),
        tuple(sorted((span for span in stretches if _is_stretch(span)), key=lambda span: span.start)),
        tuple(seen for row in rows for seen in row.parent if _is_span(seen.at, seen.main)),
    )


def readiness(dump: Dump) -> tuple[str, float | None]:
    """What was asked for as the end of the start, and when it was first seen, in seconds since the epoch."""
    rows = dump.rows(Ready)
    seen = [row.at for row in rows if row.at is not None and _is_time(row.at)]
    return next((row.text for row in rows), ""), min(seen, default=None)


def uses(life: Life, seen: Iterable[ParentSeen]) -> Iterator[Use]:
    """The stretches of a process, each divided where one of the processes that it started has looked at it, which is
    what `seen` has; and behind its last one, as where it was killed before it could tell, what is between two looks.
    """
    looks = sorted(seen, key=lambda look: look.at)
    at = 0
    end = -math.inf
    for stretch in life.stretches:
        start, until = max(stretch.start, end), stretch.start + stretch.seconds
        if start >= until:
            continue
        main, whole, waits_in = stretch.before, stretch.before + stretch.main, ""
        while at < len(looks) and looks[at].at < until:
            look = looks[at]
            at += 1
            if look.at <= start:
                continue
            used = min(max(look.main, main), whole)
            if abs(used - look.main) > _SLACK:  # not this thread's clock: another process had that number
                continue
            yield _use(start, look.at, used - main, _queued_share(stretch), waits_in)
            start, main, waits_in = look.at, used, look.waits_in
        yield _use(start, until, whole - main, _queued_share(stretch), waits_in)
        end = until
    for look, later in pairwise(look for look in looks if look.at >= end):
        if later.main >= look.main:
            yield _use(look.at, later.at, later.main - look.main, 0.0, look.waits_in)


def taking_down(life: Life, parent: Life | None, siblings: Iterable[Life], waited: Iterable[Use]) -> float | None:
    """Seconds that a process took to take itself down after all that it told; None if that is not known.

    Where nobody saw when it was gone, it is the processor time that it used for that: what its parent's children used
    in the stretch in which it ended, if it was the only one of them that could have ended in it. Where it saw its
    parent wait for a process to end, it is what the parent was on no processor from then on, up to so many times as
    much: processors are shared. `waited` are the parent's.
    """
    if life.last is None or not life.has_ended:
        return None
    if life.gone is not None:
        return max(life.gone - life.last, 0.0)
    if parent is None:
        return None
    for stretch in parent.stretches:
        end = stretch.start + stretch.seconds
        if end <= life.last or stretch.children <= 0:
            continue
        others = (one for one in siblings if one.pid != life.pid and one.start < end - _TICK)
        if any(one.last is None or not one.has_ended or one.last >= stretch.start for one in others):
            return None
        used = min(max(stretch.children - life.used, 0.0), end - max(life.last, stretch.start))
        looked = {seen.at for seen in life.seen}
        idle = (one.end - max(one.start, life.last) for one in waited if one.start in looked and one.end > life.last)
        return max(used, min(_SHARED * used, max(idle, default=0.0)))
    return None


def children_of(found: Iterable[Life]) -> Mapping[int, list[Life]]:
    """The processes that each one started."""
    return gathered((life.parent, life) for life in found if life.parent)


def _use(start: float, end: float, main: float, queued: float, waits_in: str) -> Use:
    """`queued` is the share of what is left by `main`."""
    share = min(max(main / (end - start), 0.0), 1.0) if end > start else 0.0
    return Use(start, end, share, queued * (1.0 - share), waits_in)


def _queued_share(stretch: StretchSpan | Stretch) -> float:
    """Of the time in which its main thread was on no processor, the share in which it was ready to run."""
    idle = stretch.seconds - stretch.main
    return min((stretch.queued or 0.0) / idle, 1.0) if idle > 0 else 0.0


def _is_time(value: float) -> bool:
    """Can that be seconds since the epoch, or of processor time?"""
    return 0.0 <= value < 1e11


def _is_span(start: float, seconds: float) -> bool:
    return _is_time(start) and _is_time(seconds)


def _is_stretch(row: StretchSpan | Stretch) -> bool:
    return _is_span(row.start, row.seconds) and all(
        map(_is_time, (row.before, row.main, row.children, row.queued or 0.0))
    )
