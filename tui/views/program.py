"""The terminal of the program that runs beside the app, or what it printed when the dump was made."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from textual.app import ComposeResult

from inspect_compile.dump import paths
from inspect_compile.dump.files import file_inside
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.bars import Item, Tab, ended
from inspect_compile.tui.models.code import NOTHING
from inspect_compile.tui.terminal import Terminal
from inspect_compile.tui.views.view import TabView
from inspect_compile.tui.widgets.bar import Bar
from inspect_compile.tui.widgets.terminal_lines import TerminalLines
from inspect_compile.tui.work import start

NOTHING_KEPT: Final = "The program's output was not recorded: it ran without the app."

TICK: Final = 0.1
"""Seconds between two reads of the program's output."""

PIECE: Final = 1 << 16
"""Maximum number of bytes drawn at once: more would block the screen."""


class Program(Protocol):
    """A program on its own terminal."""

    def output(self, offset: int) -> bytes:
        """Output from byte `offset` on, as far as there is any; the rest may need further calls."""

    def write(self, keys: bytes) -> None:
        """Type `keys`: b"\\x03" is Ctrl-C. Never waits."""

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of its terminal."""

    def status(self) -> int | None:
        """None while it runs; then its exit status, or the negative number of the signal that ended it."""

    def terminate(self) -> None:
        """Ask it to end."""


class ProgramView(TabView):
    """The program's output, and input to it."""

    def __init__(self, tab: Tab, program: Program | None, root: Path) -> None:
        super().__init__(tab)
        self._program = program
        self._output = program.output if program is not None else recorded_output(root)
        self._terminal = Terminal()

    def compose(self) -> ComposeResult:
        """A title and the terminal."""
        yield Bar(id="program-title", classes="title")
        yield TerminalLines(id="program-rows")

    def on_mount(self) -> None:
        """Begin to read."""
        self.terminal_lines.takes_keys = self._program is not None
        self.rows.show(self._terminal)
        start(self, self._read, group="program output")

    @property
    def terminal_lines(self) -> TerminalLines:
        """The terminal."""
        return self.query_one("#program-rows", TerminalLines)

    async def _read(self) -> None:
        offset = 0
        is_last = False
        self._say_title()
        while True:
            data = await asyncio.to_thread(self._output, offset)
            offset += len(data)
            for begin in range(0, len(data), PIECE):
                self._terminal.feed(data[begin : begin + PIECE])
                self.terminal_lines.follow()
                await asyncio.sleep(0)
            if data:
                self._say_title()
                continue
            if is_last:
                self.terminal_lines.release()
                if offset == 0 and self._program is None:
                    self.rows.empty = NOTHING_KEPT
                    self.rows.show(NOTHING)
                    self._say_title()
                break
            # Read once more after its end: its last output may come after the status.
            is_last = self._program is None or self._program.status() is not None
            self._say_title()
            await asyncio.sleep(TICK)

    def _say_title(self) -> None:
        lines = Item(f"{number_of(len(self.rows.whole), 'line')} ", "dim", drop=2)
        if self.terminal_lines.is_typing:
            state = Item(" keys go to the program, Esc gives them back ", "on")
        elif self._program is None:
            state = Item(" as it was recorded ", "dim", drop=1)
        elif (status := self._program.status()) is None:
            state = Item(" runs · Enter types to it ", "good")
        else:
            state = Item(f" {ended(status)} ", "good" if status == 0 else "bad")
        self.query_one("#program-title", Bar).say([Item(f" {self.tab.title} ", "name"), state], [lines])

    def on_terminal_lines_typed(self, event: TerminalLines.Typed) -> None:
        """Pass keys on."""
        if self._program is not None and self._program.status() is None:
            self._program.write(event.keys)

    def on_terminal_lines_sized(self, event: TerminalLines.Sized) -> None:
        """Tell the program its screen's size."""
        self._terminal.resize(event.rows, event.columns)
        if self._program is not None:
            self._program.resize(event.rows, event.columns)

    def on_terminal_lines_typing(self) -> None:
        """Show where keys go."""
        self._say_title()


def recorded_output(root: Path) -> Callable[[int], bytes]:
    """Reads script.log of a dump, or only its end if it is long."""
    skipped: list[int] = []

    def output(offset: int) -> bytes:
        file = file_inside(root, root / paths.SCRIPT_LOG)
        if file is None:
            return b""
        try:
            with file:
                if not skipped:
                    skipped.append(max(0, file.seek(0, os.SEEK_END) - (4 << 20)))
                file.seek(skipped[0] + offset)
                return file.read(1 << 20)
        except OSError:
            return b""

    return output
