"""Time and bandwidth of each launch, if the program was run with --measure."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.cost.launch_origins import BY, By
from inspect_compile.analysis.dumps.nothing import text_or_nothing
from inspect_compile.analysis.kernels.launch_times import measured, measuring
from inspect_compile.analysis.runtime.measured import (
    MeasuredGraph,
    MeasuredTime,
    measured_by,
    measured_graph,
    measured_rows,
)
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.cost.cost_text import AT_MOST, TITLES, moved_text, origin_column
from inspect_compile.tables.parts import DeclaredTable, Request
from inspect_compile.tables.styled_text import Block, Stack, styled
from inspect_compile.tables.text import byte_text, number_of, seconds_text, share_text, time_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_FIRST: Final = "in which kernels are compiled and tuned, and caches are cold"

NOT_MEASURED: Final = "nothing was measured: inspect-compile run --measure SCRIPT times each launch"


def rate_text(rate: float | None, *, is_unsure: bool = False) -> str:
    """GB/s."""
    return "" if rate is None else f"{AT_MOST * is_unsure}{f'{rate:,.0f}' if rate >= 10 else f'{rate:.2g}'}"


def _what(title: str) -> Column[MeasuredTime]:
    return origin_column(title, lambda row: row.by, lambda row: row.what, lambda row: row.lines, least=30)


def _time(row: MeasuredTime) -> Cell:
    if row.milliseconds is None:
        return cell("not timed" if row.calls else "not run", "dim")
    return cell(f"{time_text(row.milliseconds / 1e3)}{' cold' * row.is_cold}")


_FIGURES: Final[tuple[Column[MeasuredTime], ...]] = (
    Column("time", _time, right=True),
    Column("share", lambda row: share_text(row.share, 1), role="dim", right=True),
    Column("least", lambda row: "" if row.least is None else time_text(row.least / 1e3), right=True, drop=1),
    Column("moves", lambda row: moved_text(row.bytes, is_unsure=bool(row.unsure)), right=True),
    Column("GB/s", lambda row: rate_text(row.gb_per_second, is_unsure=bool(row.unsure)), right=True),
    Column("calls", lambda row: f"{row.calls:,}", right=True, drop=3),
)
LAUNCHES: Final[tuple[Column[MeasuredTime], ...]] = (
    Column("line", lambda row: str(row.line or ""), role="dim", right=True, drop=2),
    _what("launch"),
    *_FIGURES,
)
SUMS: Final = {by: (_what(TITLES[by]), *_FIGURES) for by in BY}


def measured_table(request: Request, *, by: By | None = None) -> Block:
    """The launches of each graph in code order, and their sum; or the sums by `by`."""
    tables: list[Block] = []
    dump, names = request.dump, request.names
    for found in request.graphs:
        own = measured_graph(CompiledGraph(dump, found.name).outermost)
        if own is None:
            continue
        all_rows = own.launches if by is None else measured_by(found, by)
        rows = [row for row in all_rows if not names or all(any(name in what for what in row.what) for name in names)]
        columns, options = (LAUNCHES, ()) if by is None else (SUMS[by], ("--by", by))
        tables.append(request.sheet("measured", found, columns, rows, options=options, notes=_sums(own)))
    if not tables:
        return styled(text_or_nothing(dump, NOT_MEASURED), "dim")
    return Stack([*tables, Stack([styled(line, "dim") for line in _how(dump)], gap=False)])


def times_text(found: MeasuredGraph) -> str:
    """The sum of one call on one line: `0.0358 ms in 4 launches, 181 kB, 5.1 GB/s`."""
    timed = [row for row in found.launches if row.milliseconds is not None]
    if not timed:
        return "no launch could be timed: show remarks says why"
    rate = f", {rate_text(found.gb_per_second)} GB/s" if found.gb_per_second is not None else ""
    took = time_text(found.milliseconds / 1e3)
    moved = byte_text(found.bytes) if found.bytes is not None else "how much they move is not known"
    cold = "" if not found.cold else ", cold" if found.cold == len(timed) else f", {found.cold:,} of them cold"
    return f"{took} in {number_of(len(timed), 'launch', 'launches')}{cold}, {moved}{rate}"


def _sums(found: MeasuredGraph) -> Iterator[str]:
    yield f"one call: {times_text(found)}"
    if found.cold:
        yield f"cold: only the first call was timed, {_FIRST}; call it again for representative times"
    if found.call is not None and found.call.milliseconds is not None:
        whole = found.call.milliseconds
        took = time_text(whole / 1e3)
        between = time_text(max(0.0, whole - found.milliseconds) / 1e3)
        yield f"the generated code as a whole: {took}, {between} of it outside of the launches"
    for row in found.replays:
        each = row.milliseconds if row.milliseconds is not None else row.first
        if each is not None:
            count = number_of(row.calls, "replay")
            yield f"CUDA graph {row.number}: {time_text(each / 1e3)} each time, {count}"
    if any(row.replayed for row in found.launches):
        yield "launches in CUDA graphs are timed in their replays, by events recorded with them"


def _how(dump: "Dump") -> Iterator[str]:
    warm = {row.device for row in measured(Graphs(dump)).values() if not row.is_cold}
    for row in measuring(dump):
        off = time_text(row.overhead / 1e3)
        cost = f"timing {number_of(row.timed, 'launch', 'launches')} cost {seconds_text(row.seconds)}"
        is_warm = row.device in warm
        what = f"medians by {row.how}, the first call left out" if is_warm else f"by {row.how}, in the first, cold call"
        how = f"{row.device}: {what}"
        yield f"{how}; {off} that measuring adds are subtracted; {cost}"


TABLE: Final = DeclaredTable(measured_table, measured_rows)
