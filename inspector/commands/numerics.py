"""`numerics`: runs a program, and checks each launch of its compiled graphs against the graphs in fp64."""

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from inspect_compile.errors import CommandError

NOTHING_WRONG: Final = 0
WRONG: Final = 1
NOT_CHECKED: Final = 2


class Numerics:
    """Finds the first launch that computes something else than its FX graph."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that stand before the program."""
        parser.usage = "inspect-compile numerics [options] SCRIPT [ARG …]  |  -m MODULE [ARG …]  |  -- COMMAND [ARG …]"
        parser.epilog = (
            "The program's own calls run as always: a checked call is made a second time, on copies. What is found is "
            "printed on stderr once the program has ended; `show DUMP numerics` prints it again. Exit status: 0 where "
            "nothing is wrong, 1 where something is, 2 where nothing could be checked, or for an error."
        )
        parser.add_argument("--dump", metavar="DIR", help="where to record; a new or empty directory")
        parser.add_argument(
            "--calls",
            metavar="N",
            type=_positive,
            default=1,
            help="check the first N calls of each compiled graph (default 1)",
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the program to its end, and print what was found."""
        from inspect_compile.child.run_config import RunConfig
        from inspect_compile.child.setting import Setting, python_path_without_bootstrap
        from inspect_compile.commands.program import command_of
        from inspect_compile.commands.run import first_record, last_record
        from inspect_compile.dump.root import default_root, make_root
        from inspect_compile.launch.replace import plain_environment

        try:
            path, argv = command_of(arguments.program, arguments.commands)
        except CommandError as error:
            is_named = arguments.program is not None and arguments.program.words
            raise CommandError(str(error) if is_named else "which program? inspect-compile numerics SCRIPT") from None
        cwd = Path.cwd()
        root = cwd / arguments.dump if arguments.dump is not None else default_root(cwd, os.getpid(), datetime.now())
        make_root(root)
        setting = Setting(
            root=str(root),
            pid=0,
            python_path=python_path_without_bootstrap(os.environ),
            plain=arguments.program.kind != "command",
            run=RunConfig().plain(),
            quiet=True,
            numerics={"calls": arguments.calls},
        )

        first_record(root, argv, setting)
        status = _ended(path, argv, setting.environment(plain_environment()))
        last_record(root, status)
        return _said(root, status)


def _ended(path: str, argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the program on our own terminal; returns its exit status, or the negative number of a signal."""
    from inspect_compile.launch.replace import restore_signals

    with subprocess.Popen(argv, executable=path, env=environment, preexec_fn=restore_signals) as program:
        while True:
            try:
                return program.wait()
            except KeyboardInterrupt:  # the program got it too, and may take its time to end
                continue


def _said(root: Path, status: int) -> int:
    """Print what was found, and return the exit status."""
    from rich.console import Console

    from inspect_compile.analysis.numerics.verdicts import summary
    from inspect_compile.dump import Dump
    from inspect_compile.tables.numerics import found

    shown = os.path.relpath(root)
    parts = [Dump(root), *(Dump(path) for path in Dump(root).other_processes)]
    sums = [summary(part) for part in parts]
    console = Console(file=sys.stderr, highlight=False, soft_wrap=True)
    console.print(found(parts, sums, shown, status))
    if any(one.wrong for one in sums):
        return WRONG
    return NOTHING_WRONG if any(one.compared for one in sums) else NOT_CHECKED


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of calls; write 1, 2, …")
    return int(text)
