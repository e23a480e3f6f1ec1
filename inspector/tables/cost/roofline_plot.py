"""The roofline in a terminal: roofs and launches, both axes logarithmic."""

from typing import Final

from rich.text import Text

from inspect_compile.analysis.cost.roofline_plot import Plot
from inspect_compile.tables.braille import Canvas
from inspect_compile.tables.styled_text import joined, styled
from inspect_compile.tables.terminal_table import STYLES
from inspect_compile.tables.text import multiple_text

MARKS: Final = "●"
ROLES: Final = {"memory": "accent", "compute": "good", "launch": "warn", "": "dim"}
"""Roles of launches, by what bounds them."""
_ROOF: Final = "dim"
_MARGIN: Final = 12


def plot_lines(plot: Plot, width: int, height: int) -> list[Text]:
    """The plot in `width` × `height` characters, including axes and legend."""
    canvas = Canvas(max(20, width - _MARGIN), max(6, height - 3))
    across, down = canvas.dots

    def at(x: float, y: float) -> tuple[int, int]:
        return round(plot.across(x) * (across - 1)), round((1 - plot.up(y)) * (down - 1))

    lowest = max(10.0 ** plot.x[0], 10.0 ** plot.y[0] / plot.roof.bandwidth)
    highest = plot.ceilings[0]
    canvas.line(at(lowest, lowest * plot.roof.bandwidth), at(highest.ridge, highest.rate), _ROOF)
    for ceiling in plot.ceilings:
        start, end = at(ceiling.ridge, ceiling.rate), at(10.0 ** plot.x[1], ceiling.rate)
        canvas.line(start, end, _ROOF)
    for point in reversed(plot.points):
        x, y = at(point.x, point.y)
        canvas.letter(x, y, MARKS, STYLES[ROLES[point.row.bound]])
    for ceiling in plot.ceilings:
        name = f"{ceiling.name} {multiple_text(ceiling.rate, 'FLOP/s')}"
        row = at(ceiling.ridge, ceiling.rate)[1] // 4 + 1
        canvas.words(canvas.width - len(name), row, name, _ROOF)
    ticks = {round((1 - plot.up(10.0**power)) * (down - 1)) // 4: power for power in _powers(plot.y)}
    lines = []
    for row, text in enumerate(canvas.rows()):
        label = multiple_text(10.0 ** ticks[row], "") if row in ticks else ""
        lines.append(
            joined((f"{label.replace(' ', ''):>{_MARGIN - 2}}┤" if label else " " * (_MARGIN - 2) + "│", "dim"), text)
        )
    axis = [" "] * canvas.width
    for power in _powers(plot.x):
        word = f"{10.0**power:g}"
        place = min(canvas.width - len(word), round(plot.across(10.0**power) * (canvas.width - 1)))
        if all(letter == " " for letter in axis[max(0, place - 1) : place + len(word)]):
            axis[place : place + len(word)] = word
    lines.append(styled(" " * (_MARGIN - 2) + "└" + "─" * canvas.width, "dim"))
    lines.append(styled(" " * (_MARGIN - 1) + "".join(axis), "dim"))
    legend: list[str | tuple[str, str]] = [(" " * (_MARGIN - 1) + "FLOP a byte, FLOP/s   bound by ", "dim")]
    for bound in ("memory", "compute", "launch"):
        legend += [(MARKS, STYLES[ROLES[bound]]), (f" {bound}  ", "dim")]
    lines.append(joined(*legend, one_line=True))
    return lines


def _powers(ends: tuple[float, float]) -> range:
    return range(round(ends[0]), round(ends[1]) + 1)
