"""Each launch against the roof of its device: what bounds it, the least time that it can take, and the
measured time.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.cost.roofline import COMPUTE, LAUNCH, Bounds, median_reached, roofline
from inspect_compile.analysis.cost.roofline_plot import Plot, plot
from inspect_compile.analysis.cost.roofs import Roof, roof_of
from inspect_compile.analysis.dumps.nothing import nothing, nothing_text
from inspect_compile.analysis.lookup.profiles import find_call_times
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.targets.targets import TARGETS
from inspect_compile.tables.columns import Column, cell
from inspect_compile.tables.cost.cost_text import AT_HINTS, count_text, name_column
from inspect_compile.tables.cost.roofline_plot import ROLES, plot_lines
from inspect_compile.tables.lookup_text import only
from inspect_compile.tables.parts import DeclaredTable, Request
from inspect_compile.tables.styled_text import Block, Fitted, StyledLine, styled
from inspect_compile.tables.text import (
    byte_text,
    multiple_text,
    nested_name,
    number_of,
    one_line,
    share_text,
    time_text,
    unbroken,
)

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_WIDEST, _HEIGHT = 100, 18
_AT_THE_ROOF: Final = 1.05
"""A launch that reaches more of its roof is above it: two times of one kernel differ by some per cent."""


def _bytes(row: Bounds) -> str:
    return f"{AT_HINTS * row.is_symbolic}{byte_text(row.bytes)}{' +' * bool(row.unsure)}"


def _work(row: Bounds) -> str:
    work = row.heavy + row.scalar
    return count_text(work, row.uncounted) if work or row.uncounted else ""


COLUMNS: Final[tuple[Column[Bounds], ...]] = (
    name_column("kernel", lambda row: nested_name(row.graph, row.kernel)),
    Column("line", lambda row: str(row.line or ""), role="dim", right=True, drop=5),
    Column("bytes", _bytes, right=True, drop=1),
    Column("FLOP", _work, right=True, drop=4),
    Column("FLOP/B", lambda row: f"{row.intensity:.3g}" if row.intensity else "", right=True, drop=2),
    Column("bound by", lambda row: cell(row.bound, ROLES[row.bound])),
    Column("least time", lambda row: time_text(row.least_seconds), right=True),
    Column("share", lambda row: share_text(row.share), role="dim", right=True, drop=3),
    Column("measured", lambda row: time_text(row.measured_seconds), right=True, optional=True),
    Column("of roof", lambda row: share_text(row.reached), right=True, optional=True),
    Column("by", lambda row: row.measured_by, role="dim", optional=True, drop=6),
)


def roofline_table(request: Request, *, trace: str | None = None) -> Block:
    """One table and one plot a graph, the most time first; what to do where the roof is not known.

    `trace` is the path of a profile, to measure against.
    """
    dump = request.dump
    if nothing(dump) is not None:
        return styled(nothing_text(dump), "dim")
    measured = None if trace is None else only(find_call_times(dump, trace))
    roof = roof_of(dump)
    if roof is None:
        return styled(unbroken(no_roof_text(dump)), "warn")
    sheets: list[Block] = []
    for found in request.graphs:
        rows = request.kept(roofline(found, roof, measured))
        rows.sort(key=lambda row: -row.least_seconds)
        least = f"{time_text(sum(row.least_seconds for row in rows))} at least"
        sheets.append(request.sheet("roofline", found, COLUMNS, rows, least, notes=bound_notes(rows, roof)))
        drawn = plot(rows, roof)
        if drawn.points:
            sheets.append(Fitted(partial(_plot_lines, drawn)))
    return request.stacked([styled(roof_text(roof), "dim"), *sheets] if sheets else [])


def _plot_lines(found: Plot, width: int) -> list[StyledLine]:
    return plot_lines(found, min(width, _WIDEST), _HEIGHT)


def roofline_rows(graphs: "Graphs", trace: str | None = None) -> Iterator[Bounds]:
    """The same for programs; empty if the roof is not known."""
    measured = None if trace is None else only(find_call_times(graphs.dump, trace))
    roof = roof_of(graphs.dump)
    if roof is None:
        return
    for found in graphs:
        yield from roofline(found, roof, measured)


def no_roof_text(dump: "Dump") -> str:
    """Why there is no roof, and what to do."""
    if dump.run.device == "cpu" and not dump.run.target:
        return "The peaks of this CPU are not known: `inspect-compile doctor --measure` measures them once"
    known = ", ".join(f"{name} ({target.gpu})" for name, target in TARGETS.items())
    return f"The peaks of {dump.run.target or dump.run.device} are not known; known are: {known}"


def roof_text(roof: Roof) -> str:
    """`H200: 4,800 GB/s, bfloat16 989 TFLOP/s … (source)`."""
    peaks = ", ".join(f"{name} {multiple_text(rate, 'FLOP/s')}" for name, rate in roof.peak.items())
    return f"{one_line(roof.name)}: {roof.bandwidth / 1e9:,.0f} GB/s, {peaks} ({one_line(roof.source)})"


def bound_notes(rows: Sequence[Bounds], roof: Roof) -> Iterator[str]:
    """What is left out of the bounds, and how near to them the launches come."""
    small = sum(row.bound == LAUNCH for row in rows)
    if small:
        yield (
            f"{number_of(small, 'launch', 'launches')} below {time_text(roof.launch_seconds)}, the time of an "
            "empty kernel: bound by launch overhead"
        )
    left = sum(bool(row.uncounted) for row in rows)
    if left:
        yield f"what {number_of(left, 'launch', 'launches')} compute is not counted: only their bytes bound them"
    if any(row.unsure for row in rows):
        yield "+ plus what depends on the values of an index"
    if any(row.is_symbolic for row in rows):
        yield "~ symbolic sizes: at their hints"
    median = median_reached(rows)
    if median is not None:
        yield f"median of the least time in the measured one: {share_text(median)}"
    yield from _doubts(rows, roof)


def _doubts(rows: Sequence[Bounds], roof: Roof) -> Iterator[str]:
    """Whether launches are faster than the roof allows, and so the roof is too low."""
    above = [row for row in rows if row.reached is not None and row.reached > _AT_THE_ROOF]
    if not above:
        return
    most = max(above, key=lambda row: row.reached or 0.0)
    yield (
        f"▲ {number_of(len(above), 'launch is', 'launches are')} faster than the roof allows, up to "
        f"{share_text(most.reached, 0)} of it ({one_line(nested_name(most.graph, most.kernel))})"
    )
    if any(row.bound == COMPUTE for row in above):
        yield "▲ this roof is wrong: no kernel computes faster than the device can"
    else:
        yield "▲ this roof holds only if what they read was in a cache"
    if roof.is_measured:
        yield "measure it again with `inspect-compile doctor --measure`: it is too low if other programs were running"


TABLE: Final = DeclaredTable(roofline_table, roofline_rows)
