"""`numerics`: runs a program, and checks each launch of its compiled graphs against the graphs in fp64."""

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspect_compile.commands.numerics_dump import add_dump_options, is_dump, of_dump, refuse_dump_options
from inspect_compile.commands.run import size
from inspect_compile.commands.streams import tell_part
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.facts import NumericsRequest
    from inspect_compile.facts.numerics import Ranges
    from inspect_compile.tables.styled_text import Block

NOTHING_WRONG: Final = 0
WRONG: Final = 1
NOT_COMPARED: Final = 3
"""Nothing wrong was found, and something was compared at no level."""

KEPT: Final = 256 << 20
"""Maximum number of bytes of inputs that are kept in a dump."""


class Numerics:
    """Finds the first launch that computes something else than its FX graph."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that stand before the program."""
        self._parser = parser
        parser.usage = (
            "inspect-compile numerics [options] SCRIPT [ARG …]  |  -m MODULE [ARG …]  |  -- COMMAND [ARG …]\n"
            "       inspect-compile numerics DUMP [--kernel K] -o FILE.py  |  DUMP --causes [--graph G]"
        )
        parser.epilog = (
            "The program's own calls run as usual, except with --continue-with reference: a checked call is"
            " repeated on copies. The result is printed on stderr when the program has ended; `show DUMP "
            "numerics` prints it again. A directory without a __main__.py instead of the SCRIPT is the DUMP of such a"
            " run."
        )
        parser.add_argument("--dump", metavar="DIR", help="where to record; a new or empty directory")
        parser.add_argument(
            "--calls",
            metavar="N[,M-K…]",
            type=_ranges,
            help="which calls of each compiled graph are checked, from 1: 1, 5,100-110 or all (default 1)",
        )
        parser.add_argument("--every", metavar="N", type=_positive, help="check each Nth call, from the first one")
        parser.add_argument(
            "--graph",
            metavar="NAME",
            action="append",
            default=[],
            help="only graphs with this in their names (model__1, forward); repeatable",
        )
        parser.add_argument(
            "--continue-with",
            choices=("compiled", "reference"),
            default="compiled",
            help="which results the program gets from checked calls: the compiled code's (default), or those of the"
            " FX graph run node by node",
        )
        parser.add_argument(
            "--eager",
            action="store_true",
            help="also call the program's own functions before the compiled ones, and compare the results; their"
            " side effects happen twice",
        )
        parser.add_argument(
            "--exact",
            action="store_true",
            help="compute exact values for all results that are not bitwise equal to eager's; without it, a result"
            " that is too close to the level above to be wrong is called `rounding`, and its error is not measured",
        )
        parser.add_argument(
            "--offload",
            action="store_true",
            help="keep the values that checked calls are compared with in a temporary file (in TMPDIR), and not in "
            "memory, until a launch needs them",
        )
        kinds = parser.add_mutually_exclusive_group()
        kinds.add_argument(
            "--deterministic",
            action="store_true",
            help="also run each checked call again, and report results that are not bitwise equal",
        )
        kinds.add_argument(
            "--nonfinite",
            action="store_true",
            help="find what makes the first NaN and the first Inf; looks at the results of all calls, and checks "
            "nothing else",
        )
        kinds.add_argument(
            "--recorder",
            action="store_true",
            help="the same for long training runs: calls run at nearly full speed, and only a call that returns NaN"
            " or Inf is examined",
        )

        parser.add_argument(
            "--keep",
            metavar="SIZE",
            type=size,
            help="keep at most SIZE of the inputs of wrong launches and their calls in the dump (64MB, 1GB, …; 0:"
            " none; default 256MB); with --recorder, use at most SIZE of memory for the inputs of a call that may"
            " have to be examined (default 4GB)",
        )
        add_dump_options(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the program to its end, and print what was found; or look into a dump."""
        if is_dump(arguments.program):
            self._parser.parse_args(arguments.program.words[1:], arguments)
            return of_dump(arguments)
        refuse_dump_options(arguments)
        return self._checked(arguments)

    def _checked(self, arguments: argparse.Namespace) -> int:
        from inspect_compile.child.run_config import RunConfig
        from inspect_compile.child.setting import Setting, python_path_without_bootstrap
        from inspect_compile.commands.program import command_of
        from inspect_compile.commands.run import first_record, last_record
        from inspect_compile.dump.root import default_root, make_root
        from inspect_compile.launch.replace import ended, plain_environment

        asked = _asked(arguments)
        try:
            path, argv = command_of(arguments.program, arguments.commands)
        except CommandError as error:
            is_named = arguments.program is not None and arguments.program.words
            message = str(error) if is_named else "no program given: inspect-compile numerics SCRIPT"
            raise CommandError(message) from None
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
            numerics=asked.plain(),
        )

        first_record(root, argv, setting)
        status = ended(path, argv, setting.environment(plain_environment()))
        last_record(root, status)
        return _said(root, status, nonfinite=arguments.nonfinite or arguments.recorder)


def _asked(arguments: argparse.Namespace) -> "NumericsRequest":
    from inspect_compile.facts import NumericsRequest
    from inspect_compile.facts.numerics import KEPT_IN_MEMORY, usual_calls

    every, nonfinite, recorder = arguments.every or 0, arguments.nonfinite, arguments.recorder
    usual = KEPT_IN_MEMORY if recorder else KEPT
    try:
        return NumericsRequest(
            calls=arguments.calls or usual_calls(every=every, nonfinite=nonfinite or recorder),
            every=every,
            graphs=tuple(arguments.graph),
            repeats=arguments.deterministic,
            nonfinite=nonfinite,
            recorder=recorder,
            keep=usual if arguments.keep is None else arguments.keep,
            eager=arguments.eager,
            exact=arguments.exact,
            offload=arguments.offload,
            continue_with=arguments.continue_with,
        )
    except ValueError as error:
        raise CommandError(str(error)) from None


def _said(root: Path, status: int, *, nonfinite: bool) -> int:
    """Print what was found, and return the exit status."""
    from rich.console import Console

    from inspect_compile.analysis.numerics.coverage import uncompared_in
    from inspect_compile.dump import Dump
    from inspect_compile.tables.numerics.coverage import uncompared_lines
    from inspect_compile.tables.styled_text import Stack, styled
    from inspect_compile.tables.terminal import Drawn

    parts = [Dump(root), *(Dump(path) for path in Dump(root).other_processes)]
    missing = uncompared_in(parts)
    found, is_wrong = (_nonfinite if nonfinite else _launches)(parts, os.path.relpath(root))
    ended = f"with status {status}" if status > 0 else f"by signal {-status}"
    last = [styled(f"the program itself ended {ended}", "dim")] if status else []
    console = Console(file=sys.stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(Drawn(Stack([found, *uncompared_lines(missing), *last], gap=False), is_wrapped=False))
    tell_part(captured.get())
    return WRONG if is_wrong else NOT_COMPARED if missing else NOTHING_WRONG


def _launches(parts: "Sequence[Dump]", shown: str) -> "tuple[Block, bool]":
    """What was found, and whether something is wrong."""
    from inspect_compile.analysis.numerics.verdicts import summary
    from inspect_compile.graph import Graphs
    from inspect_compile.tables.numerics.numerics import found

    sums = [summary(Graphs(part)) for part in parts]
    return found(parts, sums, shown), any(one.is_wrong for one in sums)


def _nonfinite(parts: "Sequence[Dump]", shown: str) -> "tuple[Block, bool]":
    """The same for NaN and Inf."""
    from inspect_compile.facts import FlaggedCalls, NonFinite
    from inspect_compile.tables.numerics.nonfinite import found

    is_found = any(part.rows(NonFinite) or any(row.flagged for row in part.rows(FlaggedCalls)) for part in parts)
    return found(parts, shown), is_found


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of calls; write 1, 2, …")
    return int(text)


def _ranges(text: str) -> "Ranges":
    from inspect_compile.facts import ALL_CALLS

    if text == "all":
        return ALL_CALLS
    found = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        ends = (first, last) if dash else (first, first)
        if not all(one.isdecimal() for one in ends) or not 1 <= int(ends[0]) <= int(ends[1]):
            raise argparse.ArgumentTypeError(f"{text!r} says no calls; write 1, 5,100-110 or all")
        found.append((int(ends[0]), int(ends[1])))
    return tuple(found)
