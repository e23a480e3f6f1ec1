"""What takes something out of the app: the editor, the clipboard, a file, a drawing."""

import asyncio
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from textual.app import SuspendNotSupported
from textual.screen import Screen

from inspect_compile.errors import CommandError
from inspect_compile.knowledge.frontend.own_code import is_library
from inspect_compile.tables.text import one_line
from inspect_compile.tui.keys.drawing import around, draw
from inspect_compile.tui.keys.editor import TextPlace, edit, editor_command
from inspect_compile.tui.keys.files import free_name, sheet_text
from inspect_compile.tui.models.chain import Choice
from inspect_compile.tui.models.code import Code
from inspect_compile.tui.models.outline import Place
from inspect_compile.tui.reader import Reader
from inspect_compile.tui.widgets.lines import Lines
from inspect_compile.tui.work import start

SAVED_WIDTH = 400
"""Columns for a table that is saved as text: more than any needs."""

NOTHING_CHOSEN = "select a line, a node or a kernel first"


class ElsewhereScreen(Screen[None]):
    """Keys that need what is shown and selected, which the main screen knows."""

    _root: Path
    _reader: Reader
    _place: Place
    _choice: Choice | None

    @property
    def active(self) -> str:
        """The name of the view that has the focus."""
        raise NotImplementedError

    @property
    def command(self) -> str:
        """The shell command that shows what is on the screen."""
        raise NotImplementedError

    def focused_lines(self) -> Lines | None:
        """The list that keys are for."""
        raise NotImplementedError

    def say_failure(self, error: CommandError) -> None:
        """One line about what cannot be done."""
        self.notify(one_line(str(error)), severity="warning", markup=False)

    # The clipboard

    def action_copy(self) -> None:
        """Copy the command that shows the same."""
        self._copy(self.command)

    def action_copy_selected(self) -> None:
        """Copy the name of what is selected; without a selection the row under the cursor."""
        lines = self.focused_lines()
        if self._choice is not None:
            subject = self._choice.subject
            self._copy(" ".join(subject.words) or subject.label)
        elif lines is not None and lines.cursor < len(lines.sheet):
            self._copy(lines.sheet.plain(lines.cursor).strip())

    def _copy(self, text: str) -> None:
        self.app.copy_to_clipboard(text)
        self.notify(text, title="Copied", markup=False)

    # The editor

    def action_edit(self) -> None:
        """Open the editor at the line; the app comes back when it is closed."""
        start(self, self._edit, group="edit", latest=True)

    async def _edit(self) -> None:
        try:
            place = self._text_place(await self._reader.read(lambda dump: dump.run.cwd))
            if place is None:
                raise CommandError("no line of a file is known for this row")
            editor_command(place, os.environ)
            with self.app.suspend():
                edit(place)
        except SuspendNotSupported:
            self.notify("the editor needs a terminal, and this is a browser", severity="warning")
        except CommandError as error:
            self.say_failure(error)

    def _text_place(self, cwd: str) -> TextPlace | None:
        """The line of the file that is shown, else the first line of what is selected, the user's own before others.

        A dump names the files, and may come from anyone: only its own texts and Python files are opened.
        """
        lines = self.focused_lines()
        whole = lines.whole if lines is not None else None
        if lines is not None and isinstance(whole, Code) and whole.file is not None and lines.position >= 0:
            return TextPlace(whole.file, whole.number(lines.position) or 1)
        found = self._choice.selection.lines if self._choice is not None else ()
        of = min(found, key=lambda line: (is_library(line.file), line.file, line.number), default=None)
        return TextPlace(Path(cwd) / of.file, of.number) if of is not None and of.file.endswith(".py") else None

    # Files

    def action_save(self) -> None:
        """Ask for a name, and save the focused list as text or the screen as a picture."""
        from inspect_compile.tui.screens.saving import SaveScreen

        name = free_name(self.active if self._place.kind == "graph" else self._place.kind, Path())
        picture = self.app.export_screenshot(title=self.command)
        text_of = {".svg": lambda: picture, ".txt": self._text}
        self.app.push_screen(SaveScreen(name, lambda form: text_of[form]()), self._saved)

    def _text(self) -> str:
        lines = self.focused_lines()
        return sheet_text(lines.sheet, SAVED_WIDTH) if lines is not None else ""

    def _saved(self, path: Path | None) -> None:
        if path is not None:
            self.notify(str(path.absolute()), title="Saved", markup=False)

    # Drawings

    def action_draw(self) -> None:
        """Draw the schedule around what is selected, in the dump's folder."""
        words = self._choice.subject.words if self._choice is not None else ()
        if self._place.kind != "graph" or not words:
            self.say_failure(CommandError(f"nothing to draw around: {NOTHING_CHOSEN}"))
            return
        self.notify(f"drawing around {words[0]} …", markup=False)
        start(self, partial(draw_for, self, around(self._root, self._place.name, words[0])), group="draw", latest=True)


async def draw_for(screen: Screen[None], words: Sequence[str]) -> None:
    """Draw, given the arguments of `inspect-compile`, and say on a screen what was written or what went wrong."""
    try:
        written = await asyncio.to_thread(draw, words)
    except CommandError as error:
        screen.notify(one_line(str(error)), severity="warning", markup=False)
    else:
        screen.notify("\n".join(written), title="Drawn", markup=False, timeout=15)
