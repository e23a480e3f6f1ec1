"""One table on a terminal: shows the columns that fit its width, and shortens what is too long."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from inspect_compile.tables.text import clean

Cell = str | Text

_GAP = 2
_NARROWEST = 8
"""Minimum width of a column that is shrunk."""


class Column(NamedTuple):
    """How one column looks."""

    title: str
    right: bool = False
    least: int = 0
    """Minimum width of the terminal for this column to be shown."""
    cap: float = 0.0
    """Maximum width as a share of the terminal's; longer cells are cut in the middle. 0: no limit."""
    flex: bool = False
    """Is shrunk first if there is no room: longer cells are cut at the end, or wrapped."""
    wraps: bool = False
    """Longer cells are wrapped."""
    style: str = ""


class Sheet:
    """A title, rows under columns, and closing lines. Renders differently for each width."""

    def __init__(
        self,
        columns: Sequence[Column],
        rows: Iterable[Sequence[Cell]],
        *,
        title: Text | None = None,
        notes: Iterable[Cell] = (),
    ) -> None:
        self._columns = list(columns)
        self._rows = list(rows)
        self._title = title
        self._notes = list(notes)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._title is not None:
            yield self._title
        if self._rows:
            yield self._table(options.max_width)
        for note in self._notes:
            yield cell_text(note)

    def _table(self, width: int) -> Table:
        has_titles = any(column.title for column in self._columns)
        table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold", show_header=has_titles)
        columns = [(column, [row[index] for row in self._rows]) for index, column in enumerate(self._columns)]
        shown = [
            (column, [cell_text(cell) for cell in cells])
            for column, cells in columns
            if column.least <= width and (column.title or any(cells))
        ]
        widths = _widths(shown, width)
        for (column, _), own in zip(shown, widths, strict=True):
            table.add_column(
                column.title,
                justify="right" if column.right else "left",
                no_wrap=not column.wraps,
                overflow="fold" if column.wraps else "ellipsis",
                style=column.style,
                width=own,
            )
        cells_of = [
            [shortened(cell, own) if column.cap else cell for cell in cells]
            for (column, cells), own in zip(shown, widths, strict=True)
        ]
        for row in zip(*cells_of, strict=True):
            table.add_row(*row)
        return table


def _widths(shown: list[tuple[Column, list[Text]]], width: int) -> list[int]:
    """The width of each column: first the flexible ones are shrunk, then the widest of those with a cap."""
    widths = [
        max(
            cell_len(column.title),
            min(max(cell.cell_len for cell in cells), int(width * column.cap) if column.cap else width),
        )
        for column, cells in shown
    ]
    over = sum(widths) + _GAP * (len(widths) - 1) - width
    for index, (column, _) in enumerate(shown):
        if column.flex and over > 0:
            narrower = max(_NARROWEST, widths[index] - over)
            over -= max(0, widths[index] - narrower)
            widths[index] = min(widths[index], narrower)
    capped = [index for index, (column, _) in enumerate(shown) if column.cap]
    while over > 0 and capped:
        widest = max(capped, key=lambda index: widths[index])
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
        over -= 1
    return widths


def styled(words: str, style: str = "") -> Text:
    """Text from a dump as rich text: never parsed as markup, and without control characters."""
    return Text(clean(words), style)


def joined(*parts: str | tuple[str, str] | Text, one_line: bool = False) -> Text:
    """Words, or (words, style), one after the other; with `one_line` the end is cut off if there is no room."""
    found = Text.assemble(
        *(part if isinstance(part, Text) else styled(*((part,) if isinstance(part, str) else part)) for part in parts)
    )
    if one_line:
        found.no_wrap, found.overflow = True, "ellipsis"
    return found


def cell_text(cell: Cell) -> Text:
    """A cell as rich text on one line."""
    return cell if isinstance(cell, Text) else joined(cell.replace("\n", " "), one_line=True)


def shortened(text: Text, width: int) -> Text:
    """`text` in `width` columns: both ends are kept, because names differ at the end too."""
    if len(text) <= width or width < 5:
        return text
    head = (width - 1) // 2
    return Text.assemble(text[:head], "…", text[len(text) - (width - 1 - head) :], no_wrap=True)


class Stack:
    """Renderables below each other, optionally separated by an empty line."""

    def __init__(self, parts: Sequence[RenderableType], *, gap: bool = True) -> None:
        self._parts = parts
        self._gap = gap

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for index, part in enumerate(self._parts):
            if index and self._gap:
                yield Text("")
            yield part
