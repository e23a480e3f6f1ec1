"""The roofline in a terminal: roofs and launches, both axes logarithmic."""

from typing import Final

from inspect_compile.analysis.cost.roofline_plot import Plot
from inspect_compile.tables.columns import Span
from inspect_compile.tables.styled_text import StyledLine, joined, styled
from inspect_compile.tables.text import multiple_text

MARKS: Final = "●"
ROLES: Final = {"memory": "accent", "compute": "good", "launch": "warn", "": "dim"}
"""Roles of launches, by what bounds them."""
_ROOF: Final = "dim"
_MARGIN: Final = 12
_DOTS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""By row and column of a cell."""


def plot_lines(plot: Plot, width: int, height: int) -> list[StyledLine]:
    """The plot in `width` × `height` characters, including axes and legend."""
    canvas = _Canvas(max(20, width - _MARGIN), max(6, height - 3))
    across, down = 2 * canvas.width, 4 * canvas.height

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
        canvas.letter(x, y, MARKS, ROLES[point.row.bound])
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
        legend += [(MARKS, ROLES[bound]), (f" {bound}  ", "dim")]
    lines.append(joined(*legend, is_cut=True))
    return lines


def _powers(ends: tuple[float, float]) -> range:
    return range(round(ends[0]), round(ends[1]) + 1)


class _Canvas:
    """`width` × `height` cells of eight Braille dots, counted from the top left, each in the role that came last."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._dots = [[0] * width for _ in range(height)]
        self._roles = [[""] * width for _ in range(height)]
        self._letters: dict[tuple[int, int], str] = {}

    def dot(self, x: int, y: int, role: str = "") -> None:
        """Draw one dot; dots outside of the canvas are ignored."""
        if 0 <= x < 2 * self.width and 0 <= y < 4 * self.height:
            self._dots[y // 4][x // 2] |= _DOTS[y % 4][x % 2]
            self._roles[y // 4][x // 2] = role

    def line(self, start: tuple[int, int], end: tuple[int, int], role: str = "") -> None:
        """Dots from one to the other."""
        (x0, y0), (x1, y1) = start, end
        steps = max(abs(x1 - x0), abs(y1 - y0), 1)
        for step in range(steps + 1):
            self.dot(round(x0 + (x1 - x0) * step / steps), round(y0 + (y1 - y0) * step / steps), role)

    def letter(self, x: int, y: int, letter: str, role: str = "") -> None:
        """One character in the cell of a dot."""
        column, row = x // 2, y // 4
        if 0 <= column < self.width and 0 <= row < self.height:
            self._letters[row, column] = letter
            self._roles[row][column] = role

    def words(self, column: int, row: int, words: str, role: str = "") -> None:
        """Write characters from a cell on, as far as there is room and the cells are empty."""
        for place, letter in enumerate(words):
            if 0 <= column + place < self.width and 0 <= row < self.height:
                if (row, column + place) in self._letters:
                    return
                self.letter(2 * (column + place), 4 * row, letter, role)

    def rows(self) -> list[StyledLine]:
        """The lines, top first."""
        return [
            StyledLine(tuple(self._span(row, column) for column in range(self.width))) for row in range(self.height)
        ]

    def _span(self, row: int, column: int) -> Span:
        dots = self._dots[row][column]
        letter = self._letters.get((row, column)) or (chr(0x2800 + dots) if dots else " ")
        return Span(letter, self._roles[row][column])
