"""The line in which the user types what to search for, or what to filter by; any line to type in."""

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

from inspect_compile.tui.widgets.lines import Lines


class TypedLine(Input):
    """An input that takes Enter when it is its turn, however fast keys come, and as the end of a pasted line too."""

    async def on_key(self, event: events.Key) -> None:
        """Not left to the binding, which is looked up only after the next key may have come."""
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            await self.action_submit()

    def on_paste(self, event: events.Paste) -> None:
        """Textual inserts the first line; what ends it is done after that."""
        if event.text.endswith(("\n", "\r")):
            self.call_later(self.action_submit)


class SearchBar(Horizontal):
    """Searches or filters a list while the user types."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "give_up", "Back", show=False)]

    class Closed(Message):
        """The user is done, or has cancelled (`text` is then empty)."""

        def __init__(self, text: str, *, filters: bool) -> None:
            super().__init__()
            self.text = text
            self.filters = filters

    def __init__(self) -> None:
        super().__init__()
        self.display = False
        self._lines = Lines()
        self._start = 0
        self._filters = False
        self._before = ""
        """The filter when the bar was opened."""

    def compose(self) -> ComposeResult:
        """The text, and the number of matches."""
        yield Static("/", id="search-sign")
        yield TypedLine(id="search-text", compact=True)
        yield Static("", id="search-count")

    def open(self, lines: Lines, *, filters: bool) -> None:
        """Ask what to search for in `lines`, or what to filter them by. The focus is here when this returns: the next
        key may be on its way.
        """
        self._lines = lines
        self._start = lines.cursor
        self._filters, self._before = filters, lines.arrangement.text
        self.query_one("#search-sign", Static).update("filter" if filters else "/")
        self.query_one("#search-count", Static).update("")
        text = self.query_one("#search-text", Input)
        text.value = self._before if filters else ""
        self.display = True
        self.screen.set_focus(text)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter; or search from where the user began."""
        event.stop()
        if not self.display:
            return
        if self._filters:
            self._filter(event.value)
            return
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
        """Keep the match, or the filter."""
        event.stop()
        if not self._filters and self._lines.cursor != self._start:
            self._lines.choose()
        self._close(event.value)

    def action_give_up(self) -> None:
        """Back to how it was."""
        if self._filters:
            self._filter(self._before)
            self._close("")
            return
        self._lines.search("", 1)
        self._lines.cursor = self._start
        self._lines.reveal()
        self._close("")

    def _close(self, text: str) -> None:
        self.display = False
        self.screen.set_focus(self._lines)
        self.post_message(self.Closed(text, filters=self._filters))

    def _filter(self, text: str) -> None:
        self._lines.rearrange(self._lines.arrangement._replace(text=text))
