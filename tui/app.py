"""The terminal app for a dump. What it shows is built in `models`, its appearance in `views` and `widgets`."""

import gc
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from inspect_compile.dump import Dump
from inspect_compile.tui.palette import THEME
from inspect_compile.tui.screens.main import MainScreen

if TYPE_CHECKING:
    from inspect_compile.tui.views.program import Program


class InspectApp(App[None]):
    """Walk through a dump, from a line of the program to the kernel that runs it, and back.

    With a `program`, the dump is still being written by it; whoever started the program ends it after `run`.
    """

    TITLE = "inspect-compile"
    CSS_PATH = "screens/main.tcss"  # textual reads no styles of a default screen
    ENABLE_COMMAND_PALETTE = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit", show=False),
        Binding("question_mark", "help", "Help", show=False),
    ]

    def __init__(self, dump: Dump, program: "Program | None" = None) -> None:
        super().__init__()
        self._dump = dump
        self._program = program
        self.register_theme(THEME)
        self.theme = THEME.name

    def on_load(self) -> None:
        """Exclude what was imported from garbage collection, so that it is not walked while the screen is built."""
        if not self.is_headless:
            gc.freeze()

    def get_default_screen(self) -> MainScreen:
        """The main screen."""
        return MainScreen(self._dump, self._program)

    def action_help(self) -> None:
        """Show all keys."""
        from inspect_compile.tui.screens.help import HelpScreen

        self.push_screen(HelpScreen())

    async def action_quit(self) -> None:
        """Quit; ask first if that ends a program too."""
        if self._program is None or self._program.status() is not None:
            self.exit()
            return
        from inspect_compile.tui.screens.quit import QuitScreen

        self.push_screen(QuitScreen(), lambda is_sure: self.exit() if is_sure else None)
