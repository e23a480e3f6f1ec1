"""What commands print: a renderable for people, structs as JSON for programs."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import msgspec


def print_table(found: object) -> None:
    """Print a renderable of rich. Text from a dump is no markup."""
    from rich.console import Console

    class Terminal(Console):
        """A console that leaves a reader that has gone to the command line's own handling."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    Terminal(highlight=False, markup=False, emoji=False, soft_wrap=False).print(found)


def print_json(rows: "Iterable[msgspec.Struct]") -> None:
    """Print one JSON object a line."""
    import msgspec

    from inspect_compile.tables.text import terminal_safe

    encoder = msgspec.json.Encoder()
    for row in rows:
        sys.stdout.buffer.write(terminal_safe(encoder.encode(row)) + b"\n")
    sys.stdout.buffer.flush()
