"""A sheet as the user arranged it: filtered, sorted by a column, without the columns that were hidden.

Cells are in the order that a person expects: `9 kB` before `1.2 MB`, `op9` before `op10`.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from inspect_compile.tables.columns import Cell, Span, plain
from inspect_compile.tui.models.places import RowIndex
from inspect_compile.tui.models.sheet import Sheet, Subject, Table

Key = tuple[int, float, tuple[tuple[int, int, str], ...]]

_AMOUNT: Final = re.compile(
    r"[≈~<>≥≤+ ]*(?P<number>[-−]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(?P<unit>[^\W\d_]*|%|×)"
)
_PIECES: Final = re.compile(r"\d{1,18}|\D+")
_PREFIXES: Final = {
    "n": 1e-9, "µ": 1e-6, "μ": 1e-6, "u": 1e-6, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15
}  # fmt: skip
_UNITS: Final = ("s", "B", "iB", "FLOP", "FLOPs", "")
"""What a prefix may stand before."""
_WORDS: Final = {"min": 60.0, "h": 3600.0}

_NUMBER, _TEXT, _NOTHING = range(3)


class Arrangement(NamedTuple):
    """What the user asked for in one list."""

    text: str = ""
    """Only rows that contain it are shown, whatever the case."""
    column: str = ""
    """Title of the column to sort by; empty for the order in which the rows come."""
    is_descending: bool = False
    hidden: frozenset[str] = frozenset()
    """Titles of columns that are not shown."""

    def sorted_by(self, column: str) -> "Arrangement":
        """The same sorted by a column; by the same one again: the other way round, then as the rows come."""
        if column != self.column:
            return self._replace(column=column, is_descending=False)
        if not self.is_descending:
            return self._replace(is_descending=True)
        return self._replace(column="", is_descending=False)


AS_IT_COMES: Final = Arrangement()


class Arranged(NamedTuple):
    """The sheet to draw, and which rows of the whole one are its rows."""

    sheet: Sheet
    rows: Sequence[int]
    places: RowIndex | None = None
    """Where the sheet has what, if that was looked for already."""

    def with_places(self) -> "Arranged":
        """The same, with that: on another thread than the screen's, as it looks at every row."""
        return self._replace(places=RowIndex(self.sheet))


class Filtered(Sheet):
    """Some rows of a sheet. It is drawn like the whole, so that code keeps its colours."""

    def __init__(self, whole: Sheet, rows: Sequence[int]) -> None:
        self._whole = whole
        self._rows = rows
        self.header, self.width = whole.header, whole.width

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def wants_colour(self) -> bool:
        """As in the whole."""
        return self._whole.wants_colour

    def colour(self) -> None:
        """As in the whole."""
        self._whole.colour()

    def fixed(self, index: int) -> list[Span]:
        """As in the whole."""
        return self._whole.fixed(self._rows[index])

    def spans(self, index: int, width: int) -> list[Span]:
        """As in the whole."""
        return self._whole.spans(self._rows[index], width)

    def plain(self, index: int) -> str:
        """As in the whole."""
        return self._whole.plain(self._rows[index])

    def key(self, index: int) -> str:
        """As in the whole."""
        return self._whole.key(self._rows[index])

    def subject(self, index: int) -> Subject | None:
        """As in the whole."""
        return self._whole.subject(self._rows[index])

    def is_heading(self, index: int) -> bool:
        """As in the whole."""
        return self._whole.is_heading(self._rows[index])


def arranged(sheet: Sheet, how: Arrangement) -> Arranged:
    """`sheet` as asked for. A column that it does not have sorts and hides nothing."""
    table = sheet if isinstance(sheet, Table) and sheet.header else None
    order: Sequence[int] = range(len(sheet))
    if how.text:
        order = _matching(sheet, how.text.casefold())
    if table is None:
        return Arranged(Filtered(sheet, order) if how.text else sheet, order)
    sorts = next((index for index, column in enumerate(table.columns) if how.column and column.title == how.column), -1)
    if sorts >= 0:
        order = _sorted(table, order, sorts, is_descending=how.is_descending)
    if not how.text and sorts < 0 and not how.hidden:
        return Arranged(sheet, order)
    mark = "" if sorts < 0 else "▼" if how.is_descending else "▲"
    return Arranged(table.picked(order, how.hidden, how.column if mark else "", mark), order)


def _matching(sheet: Sheet, text: str) -> list[int]:
    """The rows that contain `text`, below the heading that they have in the whole."""
    found: list[int] = []
    heading = -1
    for index in range(len(sheet)):
        fits = text in sheet.plain(index).casefold()
        if sheet.is_heading(index):
            heading = index
        if not fits:
            continue
        if heading >= 0 and heading != index:
            found.append(heading)
        found.append(index)
        heading = -1
    return found


def _sorted(table: Table, rows: Sequence[int], column: int, *, is_descending: bool) -> list[int]:
    """Sorted rows, those with an empty cell last, then the notes below the table; the headings between rows go."""
    kept = [index for index in rows if not table.is_heading(index) and table.cells(index)]
    last = kept[-1] if kept else -1
    keys = {index: order_key(table.cells(index)[column]) for index in kept}
    full = [index for index in kept if table.cells(index)[column]]
    empty = [index for index in kept if not table.cells(index)[column]]
    ordered = sorted(full, key=keys.__getitem__, reverse=is_descending)
    return [*ordered, *empty, *(index for index in rows if index > last)]


def order_key(cell: Cell) -> Key:
    """What cells are sorted by: amounts by their value in the base unit, then texts, then empty cells."""
    text = plain(cell).strip()
    if not text:
        return _NOTHING, 0.0, ()
    found = _AMOUNT.match(text)
    if found is not None and _ends_a_word(text, found.end()):
        number = found["number"].replace("−", "-").replace(",", "")
        return _NUMBER, float(number) * _scale(found["unit"]), _pieces(text[found.end() :])
    return _TEXT, 0.0, _pieces(text)


def _ends_a_word(text: str, end: int) -> bool:
    return end == len(text) or not (text[end].isalnum() or text[end] == "_")


def _scale(unit: str) -> float:
    if unit in _WORDS:
        return _WORDS[unit]
    return _PREFIXES.get(unit[:1], 1.0) if unit[1:] in _UNITS and unit not in _UNITS else 1.0


def _pieces(text: str) -> tuple[tuple[int, int, str], ...]:
    """Digits as numbers, so that `op9` comes before `op10`."""
    found = _PIECES.findall(text.casefold())
    return tuple((0, int(piece), "") if piece.isdecimal() else (1, 0, piece) for piece in found)
