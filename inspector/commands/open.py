"""`open`: walk through a dump in the terminal, or in a browser."""

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspect_compile.commands import streams
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.analysis.compare.side_by_side import Side
    from inspect_compile.dump import Dump

WEB_MISSING: Final = "open --web needs textual-serve: pip install 'inspect-compile[web]'"


class Open:
    """The TUI on a dump, finished or still being written, or on two beside each other."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        from inspect_compile.commands.dump_selection import add_dump, add_part
        from inspect_compile.commands.recompiling import add_recompile

        add_dump(parser)
        parser.add_argument("other", nargs="?", metavar="NEW", help="a second dump to compare it with, as `diff` does")
        add_part(parser)
        add_recompile(parser)
        parser.add_argument(
            "--web", action="store_true", help="open it in a browser on this machine; needs inspect-compile[web]"
        )
        parser.add_argument("--port", type=int, default=0, metavar="N", help="port for --web (default: any free port)")

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the TUI until it is quit."""
        from inspect_compile.commands.dump_selection import chosen, part_of

        whole = chosen(arguments.dump, None)
        if arguments.recompile:
            from inspect_compile.commands.recompiling import recompile_missing

            [whole] = recompile_missing([whole], arguments)
        dump = part_of(whole, arguments)
        if arguments.web:
            _serve(dump.root, arguments.port)
            return 0
        if not ((sys.stdin.isatty() and sys.stdout.isatty()) or _is_served()):
            raise CommandError(f"open needs a terminal; elsewhere: inspect-compile show {dump.name}")
        from inspect_compile.launch.assembly import assembly
        from inspect_compile.tui.app import InspectApp

        beside = None if arguments.other is None else _beside(arguments, dump)
        InspectApp(dump, None, assembly, beside=beside).run()
        return 0


def _beside(arguments: argparse.Namespace, dump: "Dump") -> "tuple[list[Side], str]":
    """The two dumps, and the command that compares them."""
    from inspect_compile.analysis.compare.side_by_side import Side
    from inspect_compile.commands.comparing.diff import names_of
    from inspect_compile.commands.dump_selection import selected

    names = names_of(arguments.dump, arguments.other)
    sides = [Side(names[0], dump), Side(names[1], selected(arguments.other, arguments))]
    return sides, shlex.join(["inspect-compile", "diff", arguments.dump, arguments.other])


def _is_served() -> bool:
    """True in a process that textual-serve started to show the app in a browser."""
    return "WebDriver" in os.environ.get("TEXTUAL_DRIVER", "")


def _serve(root: Path, port: int) -> None:
    try:
        from inspect_compile.tui.web import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "inspect_compile":
            raise
        raise CommandError(WEB_MISSING) from None

    def say(address: str) -> None:
        streams.say(f"{address}\nOnly this machine can open this address; Ctrl-C ends it.")
        sys.stdout.flush()

    try:
        serve(root, port, say)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise CommandError(f"--port {port}: {reason or error}") from None
