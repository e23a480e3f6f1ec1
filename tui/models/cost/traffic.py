"""What each launch moves, and where it is under the roof of its device."""

from collections.abc import Sequence
from typing import Final, TypeVar

from inspect_compile.analysis.cost.kernel_traffic import KernelTraffic, launch_traffic
from inspect_compile.analysis.cost.roofline import Bounds, median_reached
from inspect_compile.analysis.cost.roofline import roofline as bounds_of
from inspect_compile.analysis.cost.roofline_plot import plot
from inspect_compile.analysis.cost.roofs import roof_of
from inspect_compile.analysis.fusion.graph_bytes import graph_bytes
from inspect_compile.dump import Dump
from inspect_compile.tables.columns import Column, Span, cell, used
from inspect_compile.tables.cost.roofline import COLUMNS, no_roof_text, roof_text
from inspect_compile.tables.cost.roofline_plot import plot_lines
from inspect_compile.tables.cost.traffic import LAUNCHES
from inspect_compile.tables.text import byte_text, number_of, share_text
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.cost.bars import with_bar
from inspect_compile.tui.models.sheet import Row, Table

Launched = TypeVar("Launched", KernelTraffic, Bounds)

_TRAFFIC: Final = with_bar(LAUNCHES, lambda row: row.share or 0.0)
_ROOFLINE: Final = with_bar(COLUMNS, lambda row: row.share)
_WIDTH, _HEIGHT = 72, 16


def traffic(dump: Dump, chain: Chain) -> Table:
    """One row for each launch, in code order; then the effect of fusion on the bytes."""
    told = graph_bytes(dump, chain.graph)
    rows = launch_traffic(dump, chain.graph).all()
    notes = [f"all launches {byte_text(told.moved)}; op by op {byte_text(told.unfused)}"]
    notes += [f"{number_of(told.unknown, 'launch', 'launches')}: how much is not known"] if told.unknown else []
    notes += [f"refused pairs cost up to {byte_text(told.missed)}"] if told.missed else []
    notes += [f"library calls between loops cost up to {byte_text(told.at_calls)}"] if told.at_calls else []
    return _table("traffic", _TRAFFIC, rows, chain, _headings("note", notes))


def roofline(dump: Dump, chain: Chain) -> Table:
    """One row for each launch, longest time first; then the plot."""
    roof = roof_of(dump)
    if roof is None:
        return Table(_ROOFLINE, _headings("none", [no_roof_text(dump)]))
    found = sorted(bounds_of(dump, chain.graph, roof), key=lambda row: -row.least_seconds)
    drawn = plot(found, roof)
    lines = [[Span(text.plain, "dim")] for text in (plot_lines(drawn, _WIDTH, _HEIGHT) if drawn.points else [])]
    median = median_reached(found)
    notes = [roof_text(roof)] + (
        [f"median of the least time in the measured one: {share_text(median)}"] if median else []
    )
    after = [
        *_headings("roof", notes),
        *(Row(f"plot {number}", (tuple(line),), heading=True) for number, line in enumerate(lines)),
    ]
    return _table("roofline", _ROOFLINE, found, chain, after)


def _table(
    key: str, columns: Sequence[Column[Launched]], rows: Sequence[Launched], chain: Chain, after: Sequence[Row]
) -> Table:
    at = launch_positions(chain)
    positions = [at.get((chain.key(row.graph, row.kernel), row.line)) for row in rows]
    subjects = [
        None if position is None else chain.of_launch(position, row.line)
        for position, row in zip(positions, rows, strict=True)
    ]
    return Table.of(used(columns, rows), rows, [f"{key} {row.kernel} {row.line}" for row in rows], subjects, after)


def _headings(key: str, words: list[str]) -> list[Row]:
    return [Row(f"{key} {number}", (cell(line, "dim"),), heading=True) for number, line in enumerate(words)]


def launch_positions(chain: Chain) -> dict[tuple[str, int | None], int]:
    """Kernel and line of each launch → the kernel's position in `chain.kernels`."""
    return {
        (chain.key(kernel.graph, kernel.name), line): position
        for position, kernel in enumerate(chain.kernels)
        for line in kernel.launches or (None,)
    }
