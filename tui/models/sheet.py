"""Lists of rows for the screen: spans of text with a role, and what each row stands for in the chain of ids.

Rows are formatted when they are drawn, so that a sheet of ten thousand costs no more than one of fifty.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from rich.cells import cell_len, set_cell_size

from inspect_compile.analysis.provenance.chain import Level, Line
from inspect_compile.tables.text import clean

STYLE: Final = "="
"""A role with this prefix is a rich style (`=bold red`) instead of a role's name."""

GAP: Final = 2
"""Blank columns between two cells."""


class Span(NamedTuple):
    """A piece of text with a role that decides its colour: dim, accent, good, warn, bad, title, or a role of code."""

    text: str
    role: str = ""


class Subject(NamedTuple):
    """What a row stands for, as arguments of `Provenance.select`."""

    level: Level
    names: tuple[str | Line | int, ...]
    label: str
    """Its name for the user: `mixed.py:17`, `convolution`."""
    words: tuple[str, ...] = ()
    """Its name as argument of `show`; empty if it has none."""
    is_sum: bool = False
    """True if it stands for other rows together, and is marked only if all its names are selected."""


class Sheet(Protocol):
    """What a list widget draws."""

    @property
    def header(self) -> bool:
        """True if there is a line of column titles above the rows."""

    @property
    def width(self) -> int:
        """Width of the longest row; 0 if rows are fitted to the available width."""

    def __len__(self) -> int: ...

    def titles(self, width: int) -> list[Span]:
        """The line of column titles."""

    def fixed(self, index: int) -> list[Span]:
        """The left part of a row, which does not scroll sideways."""

    def spans(self, index: int, width: int) -> list[Span]:
        """A row."""

    def plain(self, index: int) -> str:
        """A row's whole text, for searching and copying."""

    def key(self, index: int) -> str:
        """Identifies a row also after the sheet was rebuilt from a dump that has grown."""

    def subject(self, index: int) -> Subject | None:
        """What a row stands for; None if it can only be read."""


Cell = tuple[Span, ...]


def cell(text: str, role: str = "") -> Cell:
    """A cell of one span."""
    return (Span(text, role),) if text else ()


class Column(NamedTuple):
    """The layout of a column."""

    title: str
    right: bool = False
    stretch: bool = False
    """It is shrunk down to `least`, and takes the remaining space."""
    least: int = 8
    most: int = 80
    middle: bool = False
    """Text that does not fit is cut in the middle: for names that differ at their end."""
    drop: int = 0
    """Columns with higher numbers are left out first if there is no room; 0 is always shown."""


class Row(NamedTuple):
    """One row of a table. Without cells a blank line; a heading spans all columns."""

    key: str
    cells: "tuple[Cell, ...] | Callable[[], tuple[Cell, ...]]"
    """Long tables give a function, so that only visible rows are formatted."""
    subject: Subject | None = None
    heading: bool = False


ENOUGH: Final = 400
"""Maximum characters of a cell that are used: no column is wider, and a cell may be very long."""

MEASURED: Final = 400
"""Number of rows that determine the widths of columns: the first ones, and as many evenly from the rest."""


class Table:
    """Rows in columns, fitted to the available width."""

    width: Final = 0

    def __init__(self, columns: tuple[Column, ...], rows: Sequence[Row], *, header: bool = True) -> None:
        self.columns = columns
        self.rows = rows
        self.header = header
        self._layouts: dict[int, list[int]] = {}
        self._cells: dict[int, tuple[Cell, ...]] = {}
        natural = [cell_len(column.title) for column in columns]
        rest = range(MEASURED, len(rows), max(1, len(rows) // MEASURED))
        for row in (*range(min(MEASURED, len(rows))), *rest):
            if not rows[row].heading:
                for index, spans in enumerate(self.cells(row)):
                    natural[index] = max(natural[index], sum(cell_len(span.text[:ENOUGH]) for span in spans))
        self._natural = [min(width, column.most) for width, column in zip(natural, columns, strict=True)]

    def cells(self, index: int) -> tuple[Cell, ...]:
        """The cells of a row."""
        if index not in self._cells:
            cells = self.rows[index].cells
            self._cells[index] = cells() if callable(cells) else cells
        return self._cells[index]

    def __len__(self) -> int:
        return len(self.rows)

    def titles(self, width: int) -> list[Span]:
        """The line of column titles."""
        return self._line(tuple(cell(column.title, "dim") for column in self.columns), width)

    def fixed(self, index: int) -> list[Span]:
        """Empty: tables do not scroll sideways."""
        return []

    def spans(self, index: int, width: int) -> list[Span]:
        """A row, its cells cut to their columns."""
        cells = self.cells(index)
        if self.rows[index].heading:
            return fitted([span for spans in cells for span in spans], width)
        return self._line(cells, width)

    def plain(self, index: int) -> str:
        """The full text of the cells in the columns that are shown, separated by spaces."""
        cells = self.cells(index)
        if not self.rows[index].heading:
            sizes = next(iter(self._layouts.values()), self._natural)
            cells = tuple(spans for spans, size in zip(cells, sizes, strict=True) if size)
        return "  ".join("".join(span.text for span in spans) for spans in cells)

    def key(self, index: int) -> str:
        """The row's key."""
        return self.rows[index].key

    def subject(self, index: int) -> Subject | None:
        """The row's subject."""
        return self.rows[index].subject

    def _line(self, cells: Sequence[Cell], width: int) -> list[Span]:
        line: list[Span] = []
        waiting = 0
        for column, size, spans in zip(self.columns, self._widths(width), cells, strict=True):
            if size == 0:
                continue
            shown = fitted(list(spans), size, middle=column.middle)
            blank = size - sum(cell_len(span.text) for span in shown)
            line.append(Span(" " * (waiting + (blank if column.right else 0))))
            line += shown
            waiting = GAP + (0 if column.right else blank)
        return line

    def _widths(self, width: int) -> list[int]:
        """The width of each column, 0 for one that is left out."""
        if width not in self._layouts:
            self._layouts.clear()
            self._layouts[width] = self._laid_out(width)
        return self._layouts[width]

    def _laid_out(self, width: int) -> list[int]:
        sizes = [
            min(natural, column.least) if column.stretch else natural
            for natural, column in zip(self._natural, self.columns, strict=True)
        ]
        for drop in sorted({column.drop for column in self.columns if column.drop}, reverse=True):
            if _total(sizes) <= width:
                break
            sizes = [0 if column.drop == drop else size for size, column in zip(sizes, self.columns, strict=True)]
        left = width - _total(sizes)
        while left > 0:
            short = [
                index
                for index, column in enumerate(self.columns)
                if column.stretch and 0 < sizes[index] < self._natural[index]
            ]
            if not short:
                break
            for index in short[:left]:
                more = min(max(1, left // len(short)), self._natural[index] - sizes[index])
                sizes[index] += more
                left -= more
        return sizes


def _total(sizes: Sequence[int]) -> int:
    used = [size for size in sizes if size]
    return sum(used) + GAP * max(0, len(used) - 1)


def fitted(spans: list[Span], width: int, *, middle: bool = False) -> list[Span]:
    """`spans` cut to `width` columns, with `…` where something is left out; cleaned for the screen.

    With `middle`, a single span keeps its beginning and its end.
    """
    if middle and len(spans) == 1 and cell_len(text := clean(spans[0].text)) > width > 8:
        end = width // 3
        tail = set_cell_size(text[::-1], end)[::-1]
        return [Span(f"{set_cell_size(text, width - end - 1)}…{tail}", spans[0].role)]
    shown: list[Span] = []
    left = width
    for position, span in enumerate(spans):
        text = clean(span.text[: 4 * width + ENOUGH])
        size = cell_len(text)
        if size > left or (size == left and any(rest.text for rest in spans[position + 1 :])):
            shown.append(Span(set_cell_size(text, max(0, left - 1)) + "…" * (left > 0), span.role))
            break
        shown.append(Span(text, span.role))
        left -= size
    return shown
