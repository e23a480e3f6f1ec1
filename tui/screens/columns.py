"""Chooses the column that a list is sorted by, and the columns that are shown."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from inspect_compile.tui.widgets.lines import Lines

HOW = "enter sorts, enter again reverses · space hides or shows · esc closes"


class ColumnsScreen(ModalScreen[None]):
    """The columns of one list; what is chosen is seen at once in the list behind."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,o", "dismiss", "Close", show=False),
        Binding("space", "hide", "Hide or show", show=False),
    ]

    def __init__(self, lines: Lines) -> None:
        super().__init__()
        self._lines = lines

    def compose(self) -> ComposeResult:
        """A row for each column."""
        columns = OptionList(id="choose")
        columns.border_title, columns.border_subtitle = "Columns", HOW
        yield columns

    def on_mount(self) -> None:
        """Fill the list."""
        self._say()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Sort."""
        event.stop()
        self._lines.sort(self._lines.columns[event.option_index])
        self._say()

    def action_hide(self) -> None:
        """Hide the column, or show it again; one always stays."""
        at = self.query_one(OptionList).highlighted
        if at is None:
            return
        now, column = self._lines.arrangement, self._lines.columns[at]
        hidden = now.hidden ^ {column}
        if set(self._lines.columns) - hidden:
            self._lines.rearrange(now._replace(hidden=hidden))
            self._say()

    def _say(self) -> None:
        columns = self.query_one(OptionList)
        at = columns.highlighted or 0
        columns.set_options([Option(self._row(title)) for title in self._lines.columns])
        columns.highlighted = at

    def _row(self, title: str) -> Content:
        now = self._lines.arrangement
        direction = "" if title != now.column else "  ▼ downwards" if now.is_descending else "  ▲ upwards"
        state = "hidden" if title in now.hidden else "no room" if title in self._lines.missing_columns() else ""
        sign = " " if title in now.hidden else "✓"
        return Content.assemble(f"{sign} {title:20}", (direction, "bold $primary"), (f"  {state}", "$muted"))
