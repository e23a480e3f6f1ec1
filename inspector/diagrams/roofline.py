"""The roofline as SVG: roofs, and a circle for each launch whose area is its share of the least time.

Written directly, because Graphviz has no axes. Names from a dump are escaped.
"""

import math
from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.cost.roofline_plot import Plot, Point
from inspect_compile.diagrams.look import FAINT
from inspect_compile.diagrams.svg import document, line, text, tip
from inspect_compile.tables.text import byte_text, multiple_text, one_line, time_text

WIDTH: Final = 960
HEIGHT: Final = 600
_LEFT, _RIGHT, _TOP, _BOTTOM = 96, 24, 64, 72
_COLOURS: Final = {"memory": "#1f77b4", "compute": "#b5179e", "launch": "#d98200", "": "#777777"}
_NAMED: Final = 6
"""Number of launches that are named, largest shares first."""
_LONGEST: Final = 48
_LETTER: Final = 6.4
"""Width of a letter of a name."""
_ROW: Final = 17
"""Height of a name."""


def roofline_svg(plot: Plot, title: str) -> str:
    """The picture of one graph."""
    return document(WIDTH, HEIGHT, _body(plot, title), size=12)


def _body(plot: Plot, title: str) -> Iterator[str]:
    yield text(_LEFT, 24, title, anchor="start", size=16)
    yield text(_LEFT, 44, _shortened(f"{plot.roof.name}: {plot.roof.source}", 150), anchor="start", size=10)
    yield from _axes(plot)
    yield from _roofs(plot)
    for point in reversed(plot.points):
        yield from _circle(plot, point)
    yield from _names(plot)
    if plot.left_out:
        note = f"{plot.left_out} without a place: they compute nothing that is counted, or move nothing"
        yield text(WIDTH - _RIGHT, HEIGHT - 10, note, anchor="end", size=10)


def _names(plot: Plot) -> Iterator[str]:
    """The names of the largest launches, each with a line that leads to its circle: in a column at the lower right,
    where no launch can be.
    """
    first = {point.row.kernel: point for point in reversed(plot.points)}
    named = sorted(first.values(), key=lambda point: -point.row.share)[:_NAMED]
    places = sorted(((*_at(plot, point.x, point.y), point) for point in named), key=lambda place: (-place[0], place[1]))
    x = WIDTH - _RIGHT - 8 - max((_LETTER * len(_shortened(point.row.kernel)) for point in named), default=0)
    top = HEIGHT - _BOTTOM - 14 - _ROW * len(places)
    for number, (at_x, at_y, point) in enumerate(places):
        y = top + _ROW * number
        start = at_x, at_y
        if at_x > x:  # round the names above it
            start = x - 10 - 6 * number, top - _ROW
            yield line(at_x, at_y, *start, FAINT)
        yield line(*start, x - 4, y - 4, FAINT)
        yield text(x, y, _shortened(point.row.kernel), anchor="start")


def _axes(plot: Plot) -> Iterator[str]:
    for power in range(round(plot.x[0]), round(plot.x[1]) + 1):
        x = _at(plot, 10.0**power, 10.0 ** plot.y[0])[0]
        yield line(x, _TOP, x, HEIGHT - _BOTTOM, "#e4e4e4")
        yield text(x, HEIGHT - _BOTTOM + 18, f"{10.0**power:g}", anchor="middle")
    for power in range(round(plot.y[0]), round(plot.y[1]) + 1):
        y = _at(plot, 10.0 ** plot.x[0], 10.0**power)[1]
        yield line(_LEFT, y, WIDTH - _RIGHT, y, "#e4e4e4")
        yield text(_LEFT - 8, y + 4, multiple_text(10.0**power, ""), anchor="end")
    yield text((WIDTH + _LEFT) / 2, HEIGHT - _BOTTOM + 38, "operations per byte", anchor="middle")
    yield text(8, _TOP - 12, "operations per second", anchor="start", size=10)
    x = float(_LEFT)
    for bound in ("memory", "compute", "launch"):
        yield f'<circle cx="{x:.1f}" cy="{HEIGHT - 14}" r="5" fill="{_COLOURS[bound]}"/>'
        yield text(x + 10, HEIGHT - 10, f"bound by {bound}", anchor="start")
        x += 150


def _roofs(plot: Plot) -> Iterator[str]:
    lowest = max(10.0 ** plot.x[0], 10.0 ** plot.y[0] / plot.roof.bandwidth)
    start, ridge = (
        _at(plot, lowest, lowest * plot.roof.bandwidth),
        _at(plot, plot.ceilings[0].ridge, plot.ceilings[0].rate),
    )
    yield line(*start, *ridge, "#444", width=2)
    for ceiling in plot.ceilings:
        x, y = _at(plot, ceiling.ridge, ceiling.rate)
        yield line(x, y, WIDTH - _RIGHT, y, "#444", width=2)
        label = f"{ceiling.name} {multiple_text(ceiling.rate, 'FLOP/s')}"
        yield text(WIDTH - _RIGHT - 4, y - 5, label, anchor="end")
    middle = (start[0] + ridge[0]) / 2, (start[1] + ridge[1]) / 2
    turn = math.degrees(math.atan2(ridge[1] - start[1], ridge[0] - start[0]))
    label = f"{plot.roof.bandwidth / 1e9:,.0f} GB/s"
    yield (
        f'<text x="{middle[0]:.1f}" y="{middle[1] - 6:.1f}" text-anchor="middle" fill="#333" '
        f'transform="rotate({turn:.1f} {middle[0]:.1f} {middle[1]:.1f})">{label}</text>'
    )


def _circle(plot: Plot, point: Point) -> Iterator[str]:
    row = point.row
    x, y = _at(plot, point.x, point.y)
    radius = 4 + 14 * math.sqrt(max(0.0, min(1.0, row.share)))
    measured = f", measured {time_text(row.measured_seconds)}" if row.measured_seconds else ""
    tooltip = (
        f"{row.kernel}: {byte_text(row.bytes)}, {multiple_text(row.heavy + row.scalar, 'FLOP')}, "
        f"at least {time_text(row.least_seconds)}{measured}"
    )
    yield (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{_COLOURS[row.bound]}" fill-opacity="0.6" '
        f'stroke="white">{tip(one_line(tooltip))}</circle>'
    )


def _at(plot: Plot, x: float, y: float) -> tuple[float, float]:
    return (_LEFT + plot.across(x) * (WIDTH - _LEFT - _RIGHT), _TOP + (1 - plot.up(y)) * (HEIGHT - _TOP - _BOTTOM))


def _shortened(words: str, longest: int = _LONGEST) -> str:
    return words if len(words) <= longest else f"{words[: longest - 12]}…{words[-11:]}"
