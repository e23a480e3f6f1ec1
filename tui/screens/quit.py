"""Asks before the program is ended."""

from collections.abc import Callable
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from inspect_compile.tui.models.bars import ended

_TICK: Final = 0.2
"""Seconds between two looks at whether the program still runs."""


class QuitScreen(ModalScreen[bool]):
    """Returns True if the user confirms. If the program ends meanwhile, the question says so."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,q", "dismiss(True)", "End it", show=False),
        Binding("n,escape", "dismiss(False)", "Stay", show=False),
        Binding("left,right", "app.focus_next", "Other", show=False),
    ]

    def __init__(self, status: Callable[[], int | None]) -> None:
        """`status` is that of the program: None while it runs."""
        super().__init__()
        self._status = status

    def compose(self) -> ComposeResult:
        """The question."""
        with Vertical(id="quit"):
            yield Static(
                "The program is still running. Quitting ends it; everything recorded so far is kept.", id="question"
            )
            with Horizontal():
                yield Button("Stay (n)", id="stay", variant="primary")
                yield Button("End it and quit (y)", id="end", variant="error")

    def on_mount(self) -> None:
        """Watch the program."""
        self._watch = self.set_interval(_TICK, self._look)

    def _look(self) -> None:
        status = self._status()
        if status is not None:
            self._watch.stop()
            self.query_one("#question", Static).update(f"The program has {ended(status)}. Quit the app?")
            self.query_one("#end", Button).label = "Quit (y)"

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """The answer."""
        self.dismiss(event.button.id == "end")
