"""The terminal app for a dump. What it shows is built in `models`, its appearance in `views` and `widgets`."""

import gc
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Final

from textual.app import App
from textual.binding import BindingType
from textual.command import Provider

from inspect_compile.dump import Dump
from inspect_compile.tui.keys.actions import bindings
from inspect_compile.tui.palette import DARK, LIGHT, NO_COLOR, PLAIN, looks_for
from inspect_compile.tui.screens.main import MainScreen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inspect_compile.analysis.compare.side_by_side import Side
    from inspect_compile.tui.models.stages import Assembled
    from inspect_compile.tui.views.program import Program


SELDOM: Final = (5_000, 10, 10)
"""Thresholds of garbage collection. With Python's own a key was held up for up to 50 ms."""


def _actions() -> type[Provider]:
    from inspect_compile.tui.screens.palette import Actions

    return Actions


class InspectApp(App[None]):
    """Walk through a dump, from a line of the program to the kernel that runs it, and back.

    With a `program`, the dump is still being written by it; whoever started the program ends it after `run`.
    """

    TITLE = "inspect-compile"
    CSS_PATH: ClassVar = [f"screens/{name}.tcss" for name in ("main", "choose", "compare", "help", "quit")]
    # Not those of each screen when it comes: Textual would read all styles again, and apply them to every widget.
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_actions}
    BINDINGS: ClassVar[list[BindingType]] = bindings("app")

    def __init__(
        self,
        dump: Dump,
        program: "Program | None" = None,
        assemble: "Callable[[str], Assembled] | None" = None,
        *,
        beside: "tuple[Sequence[Side], str] | None" = None,
    ) -> None:
        """`assemble` compiles and disassembles the source of a C++ kernel, when the user asks for it. With `beside`
        (the dumps, and the command that compares them) it begins with these beside each other.
        """
        # With it, Textual leaves out all colours for NO_COLOR, in the place of making them grey.
        super().__init__(ansi_color=True if NO_COLOR in os.environ else None)
        self._beside = beside
        self.assemble = assemble
        self._dump = dump
        self._program = program
        for looks in (DARK, LIGHT, PLAIN):
            self.register_theme(looks.theme)
        self.theme = looks_for(os.environ).name

    def on_load(self) -> None:
        """Exclude what was imported from garbage collection, so that it is not walked while the screen is built; then
        collect seldom: drawing makes and drops thousands of objects, nearly none of them in cycles.
        """
        if not self.is_headless:
            gc.freeze()
            gc.set_threshold(*SELDOM)

    def on_mount(self) -> None:
        """Show two dumps, if that was asked for."""
        if self._beside is not None:
            from inspect_compile.tui.screens.compare import CompareScreen

            self.push_screen(CompareScreen(*self._beside))

    def get_default_screen(self) -> MainScreen:
        """The main screen."""
        return MainScreen(self._dump, self._program)

    def action_help(self) -> None:
        """Show all keys."""
        from inspect_compile.tui.screens.help import HelpScreen

        self.push_screen(HelpScreen())

    def action_theme(self) -> None:
        """Light, or dark."""
        if self.no_color:
            self.notify(f"{NO_COLOR} is set: the terminal's own colours are used", markup=False)
            return
        self.theme = DARK.name if self.theme == LIGHT.name else LIGHT.name

    async def action_quit(self) -> None:
        """Quit; ask first if that ends a program too."""
        if self._program is None or self._program.status() is not None:
            self.exit()
            return
        from inspect_compile.tui.screens.quit import QuitScreen

        self.push_screen(QuitScreen(self._program.status), lambda is_sure: self.exit() if is_sure else None)
