"""Where compile time went: by stage, compile, pass, kernel and probe."""

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from inspect_compile.analysis.dumps.nothing import text_or_nothing
from inspect_compile.analysis.frontend.startup import Lane, Region, regions
from inspect_compile.analysis.frontend.time_sums import Kind, TimeSum, time_rows, time_sums, wanted_parts
from inspect_compile.analysis.frontend.times import StageTime, TimerRun, stage_times, total
from inspect_compile.analysis.frontend.whole_start import RunLane, RunProcess, RunWait, WholeStart, whole_start
from inspect_compile.knowledge.frontend.compile_stages import COMPILES
from inspect_compile.tables.columns import Column
from inspect_compile.tables.parts import DeclaredTable, Request, limited
from inspect_compile.tables.styled_text import Block, Stack, Table, heading, styled
from inspect_compile.tables.text import number_of, one_line, seconds_text, share_text, unplaced_text

_BAR = 24
_FEW = 8
"""Default number of rows in each list below the stages."""
_WORTH = 0.0005
"""Minimum time in seconds for a compile, a pass, a kernel or a probe to be listed."""
_KERNEL_WORDS: Final = {"timed": "timed, one run of each choice"}

STAGE_COLUMNS: Final[tuple[Column[StageTime], ...]] = (
    Column("stage", lambda row: row.stage, stretch=True, least=12),
    Column("time", lambda row: seconds_text(row.seconds), right=True),
    Column("share", lambda row: share_text(row.share), right=True),
    Column("", lambda row: "█" * round(_BAR * row.share), role="bar", drop=1),
    Column("timers", lambda row: f"{row.parts:,}" if row.parts else "", right=True, drop=2),
)
PART_COLUMNS: Final[tuple[Column[TimerRun], ...]] = (
    Column("at", lambda row: seconds_text(row.start), right=True),
    Column("time", lambda row: seconds_text(row.seconds), right=True),
    Column("own", lambda row: seconds_text(row.own), right=True, drop=3),
    Column("compile", lambda row: one_line(row.graph), stretch=True, least=7, drop=2),
    Column("timer", lambda row: one_line(row.name), stretch=True, least=24),
    Column("stage", lambda row: row.stage, drop=1),
)
LANE_COLUMNS: Final[tuple[Column[Lane], ...]] = (
    Column("lane", lambda row: row.lane, stretch=True, least=12),
    Column("from", lambda row: seconds_text(row.first) if row.bars else "", right=True),
    Column("to", lambda row: seconds_text(row.last) if row.bars else "", right=True),
    Column("time", lambda row: seconds_text(row.seconds), right=True),
    Column("", lambda row: "", role="bar", drop=1),
)
PROCESS_COLUMNS: Final[tuple[Column[RunProcess], ...]] = (
    Column("process", lambda row: one_line(row.process), stretch=True, least=12),
    Column("from", lambda row: seconds_text(row.start), right=True),
    Column("to", lambda row: seconds_text(row.last), right=True),
    Column("in lanes", lambda row: seconds_text(row.named), right=True),
    Column("own code", lambda row: seconds_text(row.own), right=True),
    Column("no processor", lambda row: seconds_text(row.queued) if row.queued else "", right=True, optional=True),
    Column("others worked", lambda row: seconds_text(row.meanwhile), right=True),
    Column("not known", lambda row: seconds_text(row.not_known), right=True),
)
WAIT_COLUMNS: Final[tuple[Column[RunWait], ...]] = (
    Column("waited", lambda row: seconds_text(row.seconds), right=True),
    Column("process", lambda row: one_line(row.process), stretch=True, least=12),
    Column("for", lambda row: one_line(row.waits_for), stretch=True, least=12),
    Column("in the kernel's", lambda row: one_line(row.waits_in), drop=1),
)
SHARE_COLUMNS: Final[tuple[Column[RunLane], ...]] = (
    Column("what", lambda row: row.lane, stretch=True, least=12),
    Column("process", lambda row: one_line(row.process), stretch=True, least=12),
    Column("time", lambda row: seconds_text(row.seconds), right=True),
    Column("share", lambda row: share_text(row.share), right=True),
    Column("", lambda row: "█" * round(_BAR * row.share), role="bar", drop=1),
)
REGION_COLUMNS: Final[tuple[Column[Region], ...]] = (
    Column("time", lambda row: seconds_text(row.seconds), right=True),
    Column("compiles", lambda row: f"{row.compiles:,}", right=True),
    Column("module", lambda row: one_line(row.module), stretch=True, least=12, optional=True),
    Column("led by", lambda row: one_line(row.led_by), optional=True),
    Column("function", lambda row: one_line(row.function), stretch=True, least=12),
    Column("at", lambda row: one_line(row.place), stretch=True, least=12),
    Column("which", lambda row: one_line(" ".join(row.compile_ids[:_FEW])), stretch=True, least=8, drop=1),
)
_TIME: Final[Column[TimeSum]] = Column("time", lambda row: seconds_text(row.seconds), right=True)


def _name(title: str) -> Column[TimeSum]:
    return Column(title, lambda row: one_line(row.name), stretch=True, least=24, middle=True)


class _List(NamedTuple):
    kind: Kind
    title: str
    evidence: str
    """The table that has all rows."""
    columns: tuple[Column[TimeSum], ...]


LISTS: Final = (
    _List(
        "ahead",
        "exported, compiled ahead of time, saved and loaded",
        "time",
        (
            _TIME,
            _name("call"),
            Column("times", lambda row: f"{row.count:,}", right=True),
            Column("line", lambda row: one_line(row.place)),
        ),
    ),
    _List(
        "compile",
        "compiles",
        "time",
        (
            _TIME,
            Column("compile", lambda row: row.name or "no specific compile"),
            Column("module", lambda row: one_line(row.module), optional=True, stretch=True, least=12),
            Column("line", lambda row: one_line(row.place), optional=True),
            Column("frame", lambda row: one_line(row.about), stretch=True, least=16),
        ),
    ),
    _List(
        "pass",
        "passes",
        "passes",
        (
            _TIME,
            _name("pass"),
            Column("stage", lambda row: row.about),
            Column("runs", lambda row: f"{row.count:,}", right=True),
        ),
    ),
    _List(
        "kernel",
        "kernels",
        "binaries",
        (_TIME, _name("kernel"), Column("what", lambda row: _KERNEL_WORDS.get(row.about, row.about))),
    ),
    _List(
        "probe",
        "our probes",
        "overhead",
        (_TIME, _name("probe"), Column("calls", lambda row: f"{row.count:,}", right=True)),
    ),
)
"""The lists below the stages."""


def time(request: Request) -> Block:
    """The stages of all compiles, or of the one that made `graph`; with `names` the timers of these names."""
    found = wanted_parts(request.graphs)
    whole = whole_start(request.dump) if request.graph is None and not request.names else None
    several = _whole(request, whole) if whole is not None and len(whole.processes) > 1 else []
    if not found and several:
        return Stack(several)
    if not found:
        return styled(text_or_nothing(request.dump, "no timers: no compile was recorded"), "dim")
    if request.names:
        kept = request.kept(found)
        notes = [] if kept else [styled(f"no timers for {' and '.join(request.names)}", "dim")]
        return limited(PART_COLUMNS, kept, request.limit, request.every("time"), notes=notes)
    sums = [row for row in time_sums(request.graphs, found) if row.seconds >= _WORTH]
    few = request.limit if request.limit is None else min(request.limit, _FEW)
    sheets: list[Block] = [*several, *(_from_the_start(request, whole) if whole is not None else ()), _stages(found)]
    for one in LISTS:
        if rows := [row for row in sums if row.kind == one.kind]:
            evidence = request.every("time") if one.evidence == "time" else request.command(one.evidence)
            head = heading(one.title, seconds_text(sum(row.seconds for row in rows)))
            sheets.append(limited(one.columns, rows, few, evidence, title=head))
    return Stack(sheets)


def _whole(request: Request, found: WholeStart) -> list[Block]:
    """All processes on one clock, and what names each second of the whole."""
    count = number_of(len(found.processes), "process", "processes")
    summary = f"{count}, {_until(found)}"
    few = request.limit if request.limit is None else min(request.limit, _FEW)
    processes = limited(
        PROCESS_COLUMNS,
        found.processes,
        few,
        request.every("time"),
        title=heading("the whole run on one clock", summary),
    )
    *named, rest = found.lanes
    shown = [row for row in named if row.share >= _WORTH]
    head = heading("where each second went", f"{share_text(found.named)} have a name")
    most = None if few is None else max(few - 1, 0)
    waits = [row for row in found.waits if row.seconds >= _WORTH]
    waiting = [limited(WAIT_COLUMNS, waits, few, request.every("time"), title=heading("who waited for whom", ""))]
    few_rows, more_rows = (shown, []) if most is None else (shown[:most], shown[most:])
    if more_rows:
        seconds, share = (math.fsum(getattr(row, field) for row in more_rows) for field in ("seconds", "share"))
        few_rows = [*few_rows, RunLane(f"{len(more_rows)} more", "", seconds, share)]
    return [processes, *(waiting if waits else ()), Table(SHARE_COLUMNS, [*few_rows, rest], title=head)]


def _until(found: WholeStart) -> str:
    """`ready after 12.3 s`, or what the start ends with."""
    if found.is_ready:
        return f"ready after {seconds_text(found.seconds)} ({one_line(found.ready)})"
    without = f" ({one_line(found.ready)} was not seen)" if found.ready else ""
    return f"{seconds_text(found.seconds)} up to the end of the last compile or first call{without}"


def _from_the_start(request: Request, whole: WholeStart) -> Iterator[Block]:
    """The lanes of the first process, and the functions compiled more than once."""
    found = whole.first
    if found is None:
        return
    if len(whole.processes) == 1:
        lanes, seconds = whole.lanes_and_rest, whole.seconds
        how_long = _until(whole) if whole.ready else seconds_text(seconds)
        summary = f"{how_long}, {share_text(whole.named)} have a name"
    else:
        lanes, seconds = found.lanes, found.seconds
        summary = f"{seconds_text(seconds)}, {seconds_text(found.elsewhere)} unattributed"
    summary += f"; {unplaced_text(found.unplaced)}" if found.unplaced else ""
    bars = tuple(
        column if column.title else Column("", lambda row: _place(row, seconds), role="bar", drop=1)
        for column in LANE_COLUMNS
    )
    yield Table(bars, lanes, title=heading("from the start of the process", summary))
    if again := [row for row in regions(request.dump) if row.compiles > 1]:
        head = heading("functions compiled more than once", number_of(len(again), "function"))
        few = request.limit if request.limit is None else min(request.limit, _FEW)
        yield limited(REGION_COLUMNS, again, few, request.every("time"), title=head)


def _place(row: Lane, whole: float) -> str:
    """Where in the whole time it began and ended; of what is not known nothing."""
    if not row.bars:
        return ""
    scale = _BAR / whole if whole > 0 else 0.0
    before = min(int(scale * max(row.first, 0.0)), _BAR - 1)
    return " " * before + "█" * max(min(round(scale * row.last), _BAR) - before, 1)


def _stages(found: list[TimerRun]) -> Table[StageTime]:
    rows = stage_times(found)
    threads = len({part.thread for part in found})
    whole = total(found) or sum(row.seconds for row in rows)
    compiles = len({part.graph for part in found if part.graph}) or sum(part.name in COMPILES for part in found)
    summary = seconds_text(whole) + (f" in {number_of(compiles, 'compile')}" if compiles else "")
    summary += f", on {number_of(threads, 'thread')}" if threads > 1 else ""
    return Table(STAGE_COLUMNS, rows, title=heading("compile time", summary))


TABLE: Final = DeclaredTable(time, time_rows)
