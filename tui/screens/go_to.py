"""Asks where to go: anything with a name."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from inspect_compile.analysis.lookup.answer import Answer, Found
from inspect_compile.analysis.lookup.anything import Thing
from inspect_compile.tables.lookup_text import unresolved_text
from inspect_compile.tui.widgets.search import TypedLine
from inspect_compile.tui.work import start

Resolve = Callable[[str], Awaitable[Answer[Thing]]]

HOW: Final = "a kernel, buffer, operation, node, graph or file.py:LINE, or a part of a name"
_KIND: Final = 10
"""Columns for what it is."""


class GoToScreen(ModalScreen[Thing | None]):
    """Resolves while the user types; returns what was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("up", "move(-1)", "Up", show=False),
    ]

    def __init__(self, resolve: Resolve) -> None:
        super().__init__()
        self._resolve = resolve
        self._found: tuple[Thing, ...] = ()
        self._asked = ""
        """What `_found` answers."""
        self._is_wanted = False
        """True if the user pressed Enter before the answer was there."""

    def compose(self) -> ComposeResult:
        """The text, what it can mean, and what to do."""
        with Vertical(id="go-to") as box:
            box.border_title, box.border_subtitle = "Go to", "enter goes · ↑ ↓ choose · esc closes"
            yield TypedLine(id="go-to-text", compact=True, placeholder=HOW)
            yield OptionList(id="go-to-found")
            yield Static(id="go-to-said")

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one("#go-to-found").can_focus = False
        self.set_focus(self.query_one(Input))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Resolve it; an older answer is dropped."""
        event.stop()
        self._is_wanted = False
        start(self, partial(self._look, event.value), group="go to", latest=True)

    async def _look(self, text: str) -> None:
        answer, message = None, ""
        try:
            answer = await self._resolve(text) if text.strip() else None
        except Exception as error:  # a dump can contain anything
            message = f"This cannot be shown: {type(error).__name__}: {error}"
        self._asked, self._found = text, answer.all if isinstance(answer, Found) else ()
        options = self.query_one(OptionList)
        options.set_options([Option(_row(thing)) for thing in self._found])
        options.highlighted = 0 if self._found else None
        message = message if answer is None or isinstance(answer, Found) else unresolved_text(answer)
        self.query_one("#go-to-said", Static).update(Content(message))
        if self._is_wanted:
            self._choose()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go there; or as soon as it is known where that is."""
        event.stop()
        if self._asked == event.value:
            self._choose()
        else:
            self._is_wanted = True

    def _choose(self) -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None and at < len(self._found):
            self.dismiss(self._found[at])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click."""
        event.stop()
        self.dismiss(self._found[event.option_index])

    def action_move(self, by: int) -> None:
        """The next meaning."""
        options = self.query_one(OptionList)
        if options.highlighted is not None:
            options.highlighted = max(0, min(len(self._found) - 1, options.highlighted + by))


def _row(thing: Thing) -> Content:
    stage = f" {thing.stage}" if thing.stage and thing.stage != "post_grad" else ""
    where = f"   {thing.graph}{stage}" if thing.kind != "graph" else ""
    return Content.assemble((f"{thing.kind:{_KIND}}", "$muted"), thing.name, (where, "$muted"))
