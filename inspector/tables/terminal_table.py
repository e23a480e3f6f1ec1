"""A table on a terminal: a title, rows under columns, and closing lines, laid out for the width that there is."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Generic

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from inspect_compile.tables.columns import Cell, Column, Row, Span, cells, text_lines, used
from inspect_compile.tables.layout import GAP, fitted, is_unlimited, natural_widths, widths_in
from inspect_compile.tables.styled_text import joined
from inspect_compile.tables.text import clean

if TYPE_CHECKING:
    from rich.table import Table

STYLES: Final = {
    "dim": "dim",
    "title": "bold",
    "accent": "cyan",
    "good": "green",
    "warn": "yellow",
    "bad": "red",
    "bar": "blue",
    "strong": "bold",
}
"""Role → rich style; the others have none."""
UNLIMITED: Final = 10_000
"""Maximum length of a text that is wrapped."""


def spans_text(spans: Iterable[Span]) -> Text:
    """A cell as rich text."""
    return Text.assemble(*((clean(span.text), STYLES.get(span.role, "")) for span in spans))


class TerminalTable(Generic[Row]):
    """Rows in columns. Renders differently for each width."""

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        rows: Iterable[Row],
        *,
        title: Text | None = None,
        notes: Iterable[str | Text] = (),
    ) -> None:
        self.rows = list(rows)
        self.columns = used(columns, self.rows)
        self.title = title
        self.notes = list(notes)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.title is not None:
            yield self.title
        if self.rows and self.columns and is_unlimited(options.max_width):
            yield from self._lines()
        elif self.rows and self.columns:
            yield self._table(options.max_width)
        for note in self.notes:
            yield note if isinstance(note, Text) else joined(note.replace("\n", " "), one_line=True)

    def _lines(self) -> Iterator[Text]:
        """The rows with the whole text of each cell."""
        titled = any(column.title for column in self.columns)
        yield from map(Text, text_lines(self.columns, self.rows)[0 if titled else 1 :])

    def _table(self, width: int) -> "Table":
        from rich.table import Table  # neither a file nor --json needs it

        has_titles = any(column.title for column in self.columns)
        table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="bold", show_header=has_titles)
        rows = [cells(self.columns, row) for row in self.rows]
        sizes = widths_in(width, self.columns, natural_widths(self.columns, rows))
        shown = [(index, column, sizes[index]) for index, column in enumerate(self.columns) if sizes[index]]
        for _, column, size in shown:
            table.add_column(
                column.title,
                justify="right" if column.right else "left",
                no_wrap=not column.wraps,
                overflow="fold" if column.wraps else "ellipsis",
                width=size,
            )
        for row in rows:
            table.add_row(*(_text(row[index], column, size) for index, column, size in shown))
        return table


def _text(found: Cell, column: Column[Row], size: int) -> Text:
    spans = fitted(found, UNLIMITED if column.wraps else size, middle=column.middle)
    return Text.assemble(*((span.text, STYLES.get(span.role, "")) for span in spans))
