"""Asks for the name of the file that is saved."""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from inspect_compile.errors import CommandError
from inspect_compile.tui.keys.files import form_of, save

HOW = ".txt: the list that has the focus, as text · .svg: the screen, as a picture"


class SaveScreen(ModalScreen[Path | None]):
    """Saves under the name that is typed, and returns it; a file that exists is never written over."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Close", show=False)]

    def __init__(self, name: str, text_of: Callable[[str], str]) -> None:
        """`text_of` makes the text of a form, `.txt` or `.svg`."""
        super().__init__()
        self._name = name
        self._text_of = text_of

    def compose(self) -> ComposeResult:
        """The name, and what is saved."""
        with Vertical(id="go-to") as box:
            box.border_title, box.border_subtitle = "Save as", "enter saves · esc closes"
            yield Input(self._name, id="save-name", compact=True)
            yield Static(HOW, id="go-to-said")

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Save; or say why not, and ask again."""
        event.stop()
        path = Path(event.value.strip()).expanduser()
        try:
            save(path, self._text_of(form_of(path)))
        except CommandError as error:
            self.query_one("#go-to-said", Static).update(Content.styled(f"✗ {error}", "$error"))
        else:
            self.dismiss(path)
