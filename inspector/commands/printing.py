"""What a command says on stdout: tables for people, rows of JSON for programs."""

import os
import sys
from typing import TYPE_CHECKING, Final

from inspect_compile.commands.streams import pass_on

if TYPE_CHECKING:
    from collections.abc import Iterable

    import msgspec

    from inspect_compile.tables.styled_text import Block

_COLOURED: Final = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Variables by which a person asks rich for colours where there is no terminal."""


def print_table(block: "Block") -> None:
    """Print a block: on a terminal in its width, with colours; elsewhere uncut, unless COLUMNS gives a width."""
    from inspect_compile.tables.layout import UNLIMITED

    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() else UNLIMITED
    if sys.stdout.isatty():
        _draw(block, None)
    elif any(map(os.environ.get, _COLOURED)):
        _draw(block, width)
    else:
        from inspect_compile.tables.block_lines import plain_text

        pass_on(sys.stdout, plain_text(block, width))


def _draw(block: "Block", width: int | None) -> None:
    """Let rich print it, in the colours that it finds stdout to have; by default in the terminal's width."""
    from rich.console import Console

    from inspect_compile.tables.terminal import Drawn

    class Terminal(Console):
        """A console that leaves a closed output pipe to the command line's handling."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    console = Terminal(highlight=False, markup=False, emoji=False, soft_wrap=False, width=width)
    if width is None:
        console.print(Drawn(block))
        return
    with console.capture() as captured:
        console.print(Drawn(block))
    pass_on(sys.stdout, captured.get())


def print_json(rows: "Iterable[msgspec.Struct]", names: tuple[str, ...] = (), limit: int | None = None) -> None:
    """Print the rows that involve all of `names`, one JSON object per line."""
    import msgspec

    from inspect_compile.analysis.lookup.row_filter import matches
    from inspect_compile.tables.text import terminal_safe

    encoder, written = msgspec.json.Encoder(), 0
    for row in rows:
        if limit is not None and written >= limit:
            break
        if matches(row, names):
            sys.stdout.buffer.write(terminal_safe(encoder.encode(row)) + b"\n")
            written += 1
    sys.stdout.buffer.flush()
