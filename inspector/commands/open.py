"""`open`: walk through a dump in the terminal."""

import argparse
import sys

from inspect_compile.errors import CommandError


class Open:
    """The TUI on a dump, finished or still being written."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        from inspect_compile.commands.dump_selection import add_dump, add_part

        add_dump(parser)
        add_part(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the TUI until it is quit."""
        from inspect_compile.commands.dump_selection import selected

        dump = selected(arguments.dump, arguments)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise CommandError(f"open needs a terminal; elsewhere: inspect-compile show {dump.root}")
        from inspect_compile.tui.app import InspectApp

        InspectApp(dump, None).run()
        return 0
