"""Columns of a table: the title, the cell of a row, and how much room it needs.

One list of columns serves the terminal, the text files of a dump and the app. A cell is made from the row alone, so
that `--json`, which prints the rows, has everything that a person sees.

May not know rich or textual: a text file is written without them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

from inspect_compile.tables.text import columns as aligned
from inspect_compile.tables.text import lines_parts, place_parts

if TYPE_CHECKING:
    from inspect_compile.facts import Location

Row = TypeVar("Row")
Holder = TypeVar("Holder")


class Span(NamedTuple):
    """A piece of text with a role that decides its colour: dim, accent, good, warn, bad, title, or a role of code."""

    text: str
    role: str = ""


Cell = tuple[Span, ...]


def cell(text: str, role: str = "") -> Cell:
    """A cell of one span."""
    return (Span(text, role),) if text else ()


def place_cell(where: "Location | None") -> Cell:
    """`train.py:41 ← adam.py:414`: the user's own line, and dimmed that of the library that it leads to."""
    own, below = place_parts(where)
    return (*cell(own), *cell(below, "dim"))


def lines_cell(lines: "Iterable[Location]") -> Cell:
    """The same for several lines."""
    found: list[Span] = []
    for own, below in lines_parts(lines):
        found += [*cell("  " if found else ""), *cell(own), *cell(below, "dim")]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column of a table whose rows are of type `Row`. Widths are counted in columns of a terminal."""

    title: str
    of: Callable[[Row], str | Cell]
    """The cell of a row. A text has the column's `role`; spans have roles of their own."""
    role: str = ""
    right: bool = False
    """Cells are flush right: numbers."""
    stretch: bool = False
    """It is shrunk down to `least`, and takes the remaining space."""
    least: int = 8
    most: int = 80
    middle: bool = False
    """Text that does not fit is cut in the middle: for names that differ at their end."""
    wraps: bool = False
    """On a terminal, text that does not fit goes on in the next line."""
    drop: int = 0
    """Columns with higher numbers are left out first if there is no room; 0 is always shown."""
    optional: bool = False
    """It is left out if no row has anything in it."""

    def cell(self, row: Row) -> Cell:
        """The cell of `row`."""
        found = self.of(row)
        return cell(found, self.role) if isinstance(found, str) else found

    def through(self, record: "Callable[[Holder], Row]") -> "Column[Holder]":
        """The same column of rows that hold a record of type `Row`."""
        found: Column[Holder] = replace(cast("Any", self), of=lambda row: self.of(record(row)))
        return found


def picked(columns: Sequence[Column[Row]], *wanted: str | Column[Row]) -> tuple[Column[Row], ...]:
    """The columns with these titles, in this order; one that is given itself is shown in this view alone."""
    by_title = {column.title: column for column in columns}
    return tuple(by_title[one] if isinstance(one, str) else one for one in wanted)


def cells(columns: Sequence[Column[Row]], row: Row) -> tuple[Cell, ...]:
    """The cells of a row, in the order of the columns."""
    return tuple(column.cell(row) for column in columns)


def used(columns: Sequence[Column[Row]], rows: Iterable[Row]) -> list[Column[Row]]:
    """The columns without the optional ones that are empty in all rows."""
    listed = list(rows)
    return [column for column in columns if not column.optional or any(column.cell(row) for row in listed)]


def plain(found: Cell) -> str:
    """The text of a cell."""
    return "".join(span.text for span in found)


def text_lines(
    columns: Sequence[Column[Row]], rows: Iterable[Row], *, indent: str = "", rule: bool = False
) -> list[str]:
    """A table for a text file: the titles, then each row with its whole text. Without rows no line.

    With `rule`, a line of dashes under each title.
    """
    listed = list(rows)
    shown = used(columns, listed) if listed else []
    lines = [[column.title for column in shown], *([plain(one) for one in cells(shown, row)] for row in listed)]
    if rule:
        lines.insert(1, ["-" * max(map(len, column)) for column in zip(*lines, strict=True)])
    right = frozenset(index for index, column in enumerate(shown) if column.right)
    return [f"{indent}{line}" for line in aligned(lines, right=right)] if shown else []
