"""What each launch moves, and where it is under the roof of its device."""

from typing import Final

from inspect_compile.analysis.cost.kernel_traffic import launch_traffic
from inspect_compile.analysis.cost.roofline import Bounds, median_reached
from inspect_compile.analysis.cost.roofline import roofline as bounds_of
from inspect_compile.analysis.cost.roofline_plot import plot
from inspect_compile.analysis.cost.roofs import roof_of
from inspect_compile.analysis.fusion.graph_bytes import graph_bytes
from inspect_compile.dump import Dump
from inspect_compile.tables.columns import Span, cell
from inspect_compile.tables.cost.moved_text import moved_text, read_text, written_text
from inspect_compile.tables.cost.roofline import no_roof_text, roof_text
from inspect_compile.tables.cost.roofline_plot import plot_lines
from inspect_compile.tables.text import byte_text, number_of, one_line, share_text, time_text
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.cost.flops import bar
from inspect_compile.tui.models.sheet import Column, Row, Subject, Table

_TRAFFIC: Final = (
    Column("kernel", stretch=True, least=16, most=70, middle=True),
    Column("reads", right=True),
    Column("writes", right=True),
    Column("share", right=True),
    Column("", most=20, drop=1),
    Column("as generated", right=True, drop=2),
)
_ROOFLINE: Final = (
    Column("kernel", stretch=True, least=16, most=70, middle=True),
    Column("bound by"),
    Column("least time", right=True),
    Column("share", right=True),
    Column("", most=20, drop=1),
    Column("bytes", right=True, drop=2),
    Column("FLOP/B", right=True, drop=3),
)
_ROLES: Final = {"memory": "accent", "compute": "warn", "launch": "dim", "": "dim"}
_WIDTH, _HEIGHT = 72, 16


def traffic(dump: Dump, chain: Chain) -> Table:
    """One row for each launch, in code order; then the effect of fusion on the bytes."""
    told = graph_bytes(dump, chain.graph)
    at = _positions(chain)
    rows = []
    for row in launch_traffic(dump, chain.graph).all():
        share = (row.read + row.written) / told.moved if told.moved else 0.0
        cells = (
            cell(one_line(row.kernel), "name"),
            cell(read_text([row])),
            cell(written_text([row])),
            cell(share_text(share), "dim"),
            cell(bar(share), "bar"),
            cell(
                moved_text(row.generated if row.is_known else None),
                "warn" if row.generated > 2 * row.least else "dim",
            ),
        )
        rows.append(
            Row(f"traffic {row.kernel} {row.line}", cells, _subject(chain, at, row.graph, row.kernel, row.line))
        )
    notes = [f"all launches {byte_text(told.moved)}; op by op {byte_text(told.unfused)}"]
    notes += [f"{number_of(told.unknown, 'launch', 'launches')}: how much is not known"] if told.unknown else []
    notes += [f"refused pairs cost up to {byte_text(told.missed)}"] if told.missed else []
    notes += [f"library calls between loops cost up to {byte_text(told.at_calls)}"] if told.at_calls else []
    return Table(_TRAFFIC, [*rows, *_headings("note", notes)])


def roofline(dump: Dump, chain: Chain) -> Table:
    """One row for each launch, longest time first; then the plot."""
    roof = roof_of(dump)
    if roof is None:
        return Table(_ROOFLINE, _headings("none", [no_roof_text(dump)]))
    at = _positions(chain)
    found = sorted(bounds_of(dump, chain.graph, roof), key=lambda row: -row.least_seconds)
    rows = [
        Row(f"roofline {row.kernel} {row.line}", _cells(row), _subject(chain, at, row.graph, row.kernel, row.line))
        for row in found
    ]
    drawn = plot(found, roof)
    lines = [[Span(text.plain, "dim")] for text in (plot_lines(drawn, _WIDTH, _HEIGHT) if drawn.points else [])]
    median = median_reached(found)
    notes = [roof_text(roof)] + (
        [f"median of the least time in the measured one: {share_text(median)}"] if median else []
    )
    return Table(
        _ROOFLINE,
        [
            *rows,
            *_headings("roof", notes),
            *(Row(f"plot {number}", (tuple(line),), heading=True) for number, line in enumerate(lines)),
        ],
    )


def _cells(row: Bounds) -> tuple[tuple[Span, ...], ...]:
    return (
        cell(one_line(row.kernel), "name"),
        cell(row.bound, _ROLES[row.bound]),
        cell(time_text(row.least_seconds)),
        cell(share_text(row.share), "dim"),
        cell(bar(row.share), "bar"),
        cell(byte_text(row.bytes), "dim"),
        cell(f"{row.intensity:.3g}" if row.intensity else "", "dim"),
    )


def _headings(key: str, words: list[str]) -> list[Row]:
    return [Row(f"{key} {number}", (cell(line, "dim"),), heading=True) for number, line in enumerate(words)]


def _positions(chain: Chain) -> dict[tuple[str, int | None], int]:
    return {
        (chain.key(kernel.graph, kernel.name), line): position
        for position, kernel in enumerate(chain.kernels)
        for line in kernel.launches or (None,)
    }


def _subject(
    chain: Chain, at: dict[tuple[str, int | None], int], graph: str, kernel: str, line: int | None
) -> Subject | None:
    position = at.get((chain.key(graph, kernel), line))
    return None if position is None else chain.of_launch(position, line)
