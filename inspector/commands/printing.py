"""What a command says on stdout: tables for people, rows of JSON for programs."""

import os
import sys
from typing import TYPE_CHECKING

from inspect_compile.commands.streams import pass_on

if TYPE_CHECKING:
    from collections.abc import Iterable

    import msgspec


def print_table(found: object) -> None:
    """Print a renderable: on a terminal in its width, with colours; elsewhere uncut, unless COLUMNS gives a width."""
    from rich.console import Console

    from inspect_compile.tables.layout import UNLIMITED

    class Terminal(Console):
        """A console that leaves a closed output pipe to the command line's handling."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    is_cut = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal()
    width = None if is_cut else UNLIMITED
    console = Terminal(highlight=False, markup=False, emoji=False, soft_wrap=False, width=width)
    if sys.stdout.isatty():
        console.print(found)
        return
    with console.capture() as captured:
        console.print(found)
    text = captured.get()
    # What fills a line up to its width would be as long as the longest line here.
    pass_on(sys.stdout, text if is_cut else "\n".join(line.rstrip(" ") for line in text.split("\n")))


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
