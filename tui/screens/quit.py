"""Asks before the program is ended."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static


class QuitScreen(ModalScreen[bool]):
    """Returns True if the user confirms."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,q", "dismiss(True)", "End it", show=False),
        Binding("n,escape", "dismiss(False)", "Stay", show=False),
        Binding("left,right", "app.focus_next", "Other", show=False),
    ]

    def compose(self) -> ComposeResult:
        """The question."""
        with Vertical(id="quit"):
            yield Static("The program is still running. Quitting ends it; everything recorded so far is kept.")
            with Horizontal():
                yield Button("Stay (n)", id="stay", variant="primary")
                yield Button("End it and quit (y)", id="end", variant="error")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """The answer."""
        self.dismiss(event.button.id == "end")
