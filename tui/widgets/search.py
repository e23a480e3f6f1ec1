"""The line where a person types what to look for."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from inspect_compile.tui.widgets.lines import Lines


class SearchBar(Horizontal):
    """Searches a list while a person types."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "give_up", "Back", show=False)]

    class Closed(Message):
        """The person is content, or has given up (`text` is then empty)."""

        def __init__(self, text: str, lines: Lines) -> None:
            super().__init__()
            self.text = text
            self.lines = lines

    def __init__(self, lines: Lines) -> None:
        super().__init__()
        self._lines = lines
        self._start = lines.cursor

    def compose(self) -> ComposeResult:
        """The text, and how often it was found."""
        yield Static("/", id="search-sign")
        yield Input(id="search-text", compact=True)
        yield Static("", id="search-count")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search from where the person began."""
        event.stop()
        self._lines.cursor = self._start
        said = ""
        if event.value:
            found = self._lines.search(event.value, 1, start=self._start)
            count, place = self._lines.count_found() if found else (0, 0)
            said = f"{place} of {count} · Enter keeps it" if found else "not in this view"
        else:
            self._lines.search("", 1)
        self.query_one("#search-count", Static).update(said)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep what was found."""
        event.stop()
        if self._lines.cursor != self._start:
            self._lines.choose()
        self.post_message(self.Closed(event.value, self._lines))

    def action_give_up(self) -> None:
        """Back to where the search began."""
        self._lines.search("", 1)
        self._lines.cursor = self._start
        self._lines.reveal()
        self.post_message(self.Closed("", self._lines))
