"""Lists of rows for the screen: spans of text with a role, and what each row stands for in the chain of ids.

Rows are formatted when they are drawn, so that a sheet of ten thousand costs no more than one of fifty.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from rich.cells import cell_len

from inspect_compile.graph.provenance.chain import Level, Line
from inspect_compile.tables.columns import Cell, Column, Span, cell, cells
from inspect_compile.tables.layout import GAP, fitted, natural_widths, widths_in

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.tui.models.chain import Chain

Record = TypeVar("Record")

STYLE: Final = "="
"""A role with this prefix is a rich style (`=bold red`) instead of a role's name."""


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


class Jump(NamedTuple):
    """A node of some FX graph."""

    graph: str
    """The outermost graph; empty for one of the current graph's compile."""
    mode: str
    """The FX view's name of its stage."""
    key: str
    """The key of its row."""


class Sheet(ABC):
    """What a list widget draws."""

    header: bool = False
    """True if there is a line of column titles above the rows."""
    width: int = 0
    """Width of the longest row; 0 if rows are fitted to the available width."""

    @abstractmethod
    def __len__(self) -> int: ...

    def titles(self, width: int) -> list[Span]:
        """The line of column titles."""
        return []

    def fixed(self, index: int) -> list[Span]:
        """The left part of a row, which does not scroll sideways."""
        return []

    @abstractmethod
    def spans(self, index: int, width: int) -> list[Span]:
        """A row."""

    @abstractmethod
    def plain(self, index: int) -> str:
        """A row's whole text, for searching and copying."""

    @abstractmethod
    def key(self, index: int) -> str:
        """Identifies a row also after the sheet was rebuilt from a dump that has grown."""

    def subject(self, index: int) -> Subject | None:
        """What a row stands for; None if it can only be read."""
        return None

    def is_heading(self, index: int) -> bool:
        """True for a line above rows that belong together."""
        return False

    @property
    def wants_colour(self) -> bool:
        """True if rows were drawn that `colour` has not reached."""
        return False

    def colour(self) -> None:  # noqa: B027 - most have nothing to highlight
        """Highlight what was drawn plain; called on a thread of its own."""

    def missing_columns(self, width: int) -> list[str]:
        """Titles of the columns for which there is no room."""
        return []


S = TypeVar("S", bound=Sheet)


@dataclass(frozen=True)
class Shown(Generic[S]):
    """What one mode of a view shows."""

    sheet: S
    count: str = ""
    """The amount, in words, for the title."""
    start: int = 0
    """Index of the row to begin with."""
    empty: str = ""
    """What is said without rows, if that is not what the view always says."""
    details: Mapping[str, Callable[[int], Sheet]] = field(default_factory=dict)
    """Row key → function that returns everything known about the row, for a width in columns."""


class Panel(NamedTuple):
    """What a view of a graph shows, and how: for most views that is all there is."""

    build: "Callable[[Dump, Chain, str], Shown[Any]] | None" = None
    """What one of the modes shows of the chain's graph; None for a view that does it itself."""
    modes: tuple[str, ...] = ()
    """What it can show, one at a time."""
    empty: str = "Nothing of this was recorded of this graph."
    """What is said without rows."""
    follow: str = "kernels"
    """The view that Enter goes to."""
    detail: tuple[str, ...] | None = None
    """CSS classes of the rows if there is a second list below them, with everything known about one row."""
    modes_are_of_detail: bool = False
    """True if the modes differ in that list only, and the rows stay as they are."""


DETAILED: Final = ("rows", "long")
"""`Panel.detail` of a view whose details may be long."""


class Row(NamedTuple):
    """One row of a table. Without cells a blank line; a heading spans all columns."""

    key: str
    cells: "tuple[Cell, ...] | Callable[[], tuple[Cell, ...]]"
    """Long tables give a function, so that only visible rows are formatted."""
    subject: Subject | None = None
    heading: bool = False

    @classmethod
    def of(cls, columns: Sequence[Column[Record]], record: Record, key: str, subject: Subject | None) -> "Row":
        """The row of a record, put into words when it is drawn."""
        return cls(key, partial(cells, columns, record), subject)

    @classmethod
    def title(cls, key: str, text: str, role: str = "title") -> "Row":
        """A line of text between the rows."""
        return cls(key, (cell(text, role),), heading=True)


MEASURED: Final = 400
"""Number of rows that determine the widths of columns: the first ones, and as many evenly from the rest."""


class Table(Sheet):
    """Rows in columns, fitted to the available width."""

    def __init__(self, columns: Sequence[Column[Any]], rows: Sequence[Row], *, header: bool = True) -> None:
        self.columns = columns
        self.rows = rows
        self.header = header
        self._layouts: dict[int, list[int]] = {}
        self._cells: dict[int, tuple[Cell, ...]] = {}
        self._hidden: frozenset[str] = frozenset()
        self._sorted = ("", "")
        """Title of the column that the rows are sorted by, and the sign of the direction."""
        rest = range(MEASURED, len(rows), max(1, len(rows) // MEASURED))
        measured = [index for index in (*range(min(MEASURED, len(rows))), *rest) if not rows[index].heading]
        self._natural = natural_widths(columns, [self.cells(index) for index in measured])

    @classmethod
    def of(
        cls,
        columns: Sequence[Column[Record]],
        records: Sequence[Record],
        keys: Sequence[str],
        subjects: Sequence[Subject | None],
        after: Sequence[Row] = (),
    ) -> "Table":
        """A table of records; a row is put into words when it is drawn. `keys` and `subjects` are those of the rows;
        `after` are headings and other rows below them.
        """
        rows = [Row.of(columns, *one) for one in zip(records, keys, subjects, strict=True)]
        return cls(columns, [*rows, *after])

    def picked(self, rows: Sequence[int], hidden: frozenset[str], column: str, mark: str) -> "Table":
        """These of the rows, in this order, without the columns whose titles are `hidden`; `mark` is put behind the
        title of `column`. Columns keep the widths that they have in the whole.
        """
        found = Table(self.columns, (), header=self.header)
        found.rows = [self.rows[index] for index in rows]
        found._cells = {place: self._cells[index] for place, index in enumerate(rows) if index in self._cells}
        found._hidden, found._sorted = hidden, (column, mark)
        found._natural = [
            0 if one.title in hidden else size + (GAP if one.title == column and not one.stretch else 0)
            for one, size in zip(self.columns, self._natural, strict=True)
        ]
        return found

    def cells(self, index: int) -> tuple[Cell, ...]:
        """The cells of a row."""
        if index not in self._cells:
            cells = self.rows[index].cells
            self._cells[index] = cells() if callable(cells) else cells
        return self._cells[index]

    def __len__(self) -> int:
        return len(self.rows)

    def titles(self, width: int) -> list[Span]:
        """The line of column titles; that of the column that is sorted by has a mark."""
        by, mark = self._sorted
        titles = (
            cell(f"{column.title} {mark}", "key") if mark and column.title == by else cell(column.title, "dim")
            for column in self.columns
        )
        return self._line(tuple(titles), width)

    def column_at(self, x: int, width: int) -> str:
        """Title of the column at this place of a line; empty between columns."""
        start = 0
        for column, size in zip(self.columns, self._widths(width), strict=True):
            if size and start <= x < start + size:
                return column.title
            start += size + GAP if size else 0
        return ""

    def missing_columns(self, width: int) -> list[str]:
        """Titles of the columns for which there is no room."""
        sizes = zip(self.columns, self._natural, self._widths(width), strict=True)
        return [column.title for column, natural, size in sizes if column.title and natural and not size]

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

    def is_heading(self, index: int) -> bool:
        """True for a line across all columns."""
        return self.rows[index].heading

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
            self._layouts[width] = widths_in(width, self.columns, self._natural)
        return self._layouts[width]
