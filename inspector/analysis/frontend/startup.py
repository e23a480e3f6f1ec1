"""From the start of the process to the last compile, and the first call of what it made: what ran when, in lanes beside
each other; and how often each function was compiled.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

import msgspec

from inspect_compile.analysis.frontend.times import compile_seconds, covered, parts, pieces
from inspect_compile.dump import Dump
from inspect_compile.facts import FirstCall, Frame, Imported, Timed
from inspect_compile.facts.compile_id import compile_order
from inspect_compile.graph import any_number, file_name, gathered, short
from inspect_compile.knowledge.frontend import compile_stages as stages
from inspect_compile.knowledge.frontend.own_code import is_library, own_line

IMPORTS, DYNAMO, AOT, INDUCTOR, FIRST_CALLS = "imports", "Dynamo", "AOTAutograd", "Inductor", "first calls"
LANES: Final = (
    *(IMPORTS, stages.EXPORT, DYNAMO, AOT, INDUCTOR, stages.BUILDING, stages.TUNING),
    *(stages.CACHES, stages.PACKAGES, FIRST_CALLS, stages.CAPTURE, stages.OTHER),
)
"""In the order of a first compile."""
_OF_THEIR_OWN: Final = (stages.EXPORT, stages.BUILDING, stages.TUNING, stages.CACHES, stages.PACKAGES, stages.CAPTURE)
_LANE_OF: Final = {
    **dict.fromkeys((stages.DYNAMO, stages.GUARDS), DYNAMO),
    **dict.fromkeys((stages.AOT, stages.PARTITION), AOT),
    **dict.fromkeys((stages.PASSES, stages.LOWERING, stages.SCHEDULING, stages.CODEGEN), INDUCTOR),
    **{stage: stage for stage in _OF_THEIR_OWN},
}
_GAP: Final = 1e-4
"""Seconds between two pieces of work of one kind that are told as one."""
_EARLY: Final = -1.0
"""Seconds from the start of the process from which on work can have its place: the process may be a little younger than
what its first module says.
"""


class Bar(msgspec.Struct, frozen=True, tag_field="fact", tag="startup_bar"):
    """A time in which one kind of work went on, without what ran inside it."""

    lane: str
    thread: int
    """Threads that build kernels work beside the one that compiles; 0 for imports."""
    graph: str
    """The compile id; empty for imports, and for threads that do not say for which compile they work."""
    name: str
    """The module, the timer of torch's that took longest in it, or `first call, backward`."""
    start: float
    """Seconds since the process started."""
    seconds: float
    process: str = ""
    """Where several are on one clock: `first process`, `rank 0`, `process 4711`."""


class Lane(msgspec.Struct, frozen=True, tag_field="fact", tag="startup_lane"):
    """All of one kind."""

    lane: str
    first: float
    last: float
    """When it began and ended, in seconds since the process started."""
    seconds: float
    """In which at least one thread was at it."""
    bars: int
    process: str = ""
    """As of a bar."""


class Region(msgspec.Struct, frozen=True, tag_field="fact", tag="region"):
    """A function of the program, and how often it was compiled: a block that is compiled on its own counts once where
    all its instances share one compile.
    """

    function: str
    place: str
    """`model.py:12`."""
    module: str
    """The modules that it was compiled for: `layers.*.mlp`; empty where it is no method of one, or the outermost."""
    led_by: str
    """If it is a library's, the user's own line that led to its first compile, `train.py:12`; else empty."""
    compiles: int
    seconds: float
    """Of all its compiles, of those of their backwards too."""
    compile_ids: tuple[str, ...]


class Startup(msgspec.Struct, frozen=True):
    """What is known of a process from its start to its last compile."""

    bars: tuple[Bar, ...]
    lanes: tuple[Lane, ...]
    seconds: float
    """From the start of the process, or of the recording where that began later, to the end of the last compile, or of
    the last first call.
    """
    elsewhere: float
    """Of these, seconds in which nothing of all this ran: the program itself."""
    unplaced: int
    """Bars that are left out, since they would begin before the process: the system's clock was set back meanwhile."""
    is_ready: bool = False
    """Whether it ends when the run was ready, as `--ready` asked to see, not with the last compile."""


def startup(dump: Dump) -> Startup | None:
    """None where torch has timed nothing, or run.json does not say when the process started."""
    began, offset = process_start(dump), until_first_timer(dump)
    if began is None or offset is None:
        return None
    found = parts(dump)
    imports = [(row.start - began, row.start - began + row.seconds, row.module) for row in dump.rows(Imported)]
    timed = gathered(
        (part.thread, (part.start + offset, part.start + offset + part.seconds)) for part in found if not part.depth
    )
    outermost = merged(span for spans in timed.values() for span in spans)
    by_thread = {thread: merged(spans) for thread, spans in timed.items()}
    work = [(found[at], start + offset, end + offset) for at, start, end in pieces(found)]
    bars: list[Bar] = []
    whole: list[tuple[float, float]] = []
    for start, end, module in imports:
        span = start, end
        holds_any = _holds_any(span, outermost)
        whole += [] if holds_any else [span]
        spans = without(span, outermost) if holds_any else [span]
        bars += [Bar(IMPORTS, 0, "", module, a, b - a) for a, b in spans]
    cuts = merged(whole)
    for part, start, end in work:
        lane = _LANE_OF.get(part.stage, stages.OTHER)
        spans = without((start, end), cuts) if not part.thread else [(start, end)]
        bars += [Bar(lane, part.thread, part.graph, part.name, a, b - a) for a, b in spans]
    for row in dump.rows(FirstCall):
        start = row.start - began
        spans = without((start, start + row.seconds), by_thread.get(row.thread, []))
        bars += [Bar(FIRST_CALLS, row.thread, row.graph, f"first call, {row.part}", a, b - a) for a, b in spans]
    bars = [bar for bar in bars if math.isfinite(bar.start) and math.isfinite(bar.seconds)]
    every = len(bars)
    bars = [bar for bar in bars if bar.start >= _EARLY]
    unplaced = every - len(bars)
    bars = list(_joined(sorted(bars, key=lambda bar: (LANES.index(bar.lane), bar.thread, bar.start))))
    last = max((bar.start + bar.seconds for bar in bars), default=0.0)
    busy = covered([(max(bar.start, 0.0), bar.start + bar.seconds) for bar in bars])
    return Startup(tuple(bars), tuple(lanes_of(bars)), last, max(last - busy, 0.0), unplaced)


def regions(dump: Dump) -> list[Region]:
    """The functions that were compiled, the most expensive first."""
    took = compile_seconds(parts(dump))
    of = gathered(((row.function, row.file, row.line), row) for row in dump.rows(Frame) if row.status == "compiled")
    rows = [
        Region(
            function,
            f"{file_name(file)}:{line}",
            ", ".join(dict.fromkeys(any_number(row.module) for row in own if row.module)),
            own_place(own[0]) if is_library(file) else "",
            len(own),
            math.fsum(took.get(row.graph, 0.0) for row in own),
            tuple(sorted((row.graph for row in own), key=compile_order)),
        )
        for (function, file, line), own in of.items()
    ]
    return sorted(rows, key=lambda row: (-row.seconds, row.place, row.function))


def own_place(frame: Frame) -> str:
    """`train.py:12`: a frame's line, or, if it is a library's, the user's own that led to it; empty if none did."""
    if not is_library(frame.file):
        return f"{file_name(frame.file)}:{frame.line}"
    own = None if frame.caller is None else own_line(frame.caller)
    return "" if own is None else short(own)


def startup_rows(dump: Dump, found: Startup) -> Iterator[msgspec.Struct]:
    """Lanes, regions and bars."""
    yield from found.lanes
    yield from regions(dump)
    yield from found.bars


def process_start(dump: Dump) -> float | None:
    """When the process, or its recording, started, in seconds since the epoch; None if that is not known."""
    try:
        return datetime.fromisoformat(dump.run.started).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def until_first_timer(dump: Dump) -> float | None:
    """Seconds from `process_start` to the first of torch's timers; None without either."""
    began = process_start(dump)
    first = min((row.start for row in dump.rows(Timed)), default=None)
    return None if began is None or first is None else first - began


def _holds_any(span: tuple[float, float], outermost: list[tuple[float, float]]) -> bool:
    """Was anything compiled while this was imported? A module may compile when it is loaded."""
    at = bisect_left(outermost, (span[0], -math.inf))
    return at < len(outermost) and outermost[at][0] < span[1]


def merged(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The same time in spans that do not overlap, in order."""
    merged: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged


def without(span: tuple[float, float], cuts: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """What is left of `span`; `cuts` are sorted and do not overlap."""
    start, end = span
    left: list[tuple[float, float]] = []
    for at in range(max(bisect_right(cuts, (start, math.inf)) - 1, 0), len(cuts)):
        a, b = cuts[at]
        if a >= end:
            break
        if b > start:
            if a > start:
                left.append((start, a))
            start = b
    return [*left, (start, end)] if start < end else left


def _joined(bars: Iterable[Bar]) -> Iterator[Bar]:
    """Neighbours of one kind as one bar, named by its longest piece."""
    open_: Bar | None = None
    longest = 0.0
    for bar in bars:
        if (
            open_ is not None
            and (bar.lane, bar.thread, bar.graph) == (open_.lane, open_.thread, open_.graph)
            and bar.lane != IMPORTS
            and bar.start - (open_.start + open_.seconds) <= _GAP
        ):
            name = bar.name if bar.seconds > longest else open_.name
            longest = max(longest, bar.seconds)
            end = max(open_.start + open_.seconds, bar.start + bar.seconds)
            open_ = Bar(open_.lane, open_.thread, open_.graph, name, open_.start, end - open_.start)
            continue
        if open_ is not None:
            yield open_
        open_, longest = bar, bar.seconds
    if open_ is not None:
        yield open_


def lanes_of(bars: Iterable[Bar], order: Iterable[str] = LANES, process: str = "") -> Iterator[Lane]:
    """What `bars`, all of one process, add up to."""
    of = gathered((bar.lane, (bar.start, bar.start + bar.seconds)) for bar in bars)
    for lane in order:
        if spans := of.get(lane):
            yield Lane(lane, min(spans)[0], max(end for _, end in spans), covered(spans), len(spans), process)
