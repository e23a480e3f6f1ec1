"""`bisect-fusions`: finds the fusion that changes a program's result, by a check that the user gives or by numerics."""

import argparse
import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspect_compile.commands.numerics import NOTHING_WRONG, WRONG
from inspect_compile.commands.streams import say, tell, tell_part
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.launch.bisect import Check, Run

_LAST_LINES: Final = 12
"""Number of lines of the check's output that are shown if nothing could be decided."""


class UndecidedError(Exception):
    """The runs do not show which fusion it is: why, and the run whose output has more."""

    def __init__(self, message: str, run: "Run | None" = None) -> None:
        super().__init__(message)
        self.run = run


class BisectFusions:
    """Finds the fusion that makes a check fail."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that stand before the command."""
        parser.usage = (
            "inspect-compile bisect-fusions [--graph G] [--dump DIR] -- COMMAND [ARG …]  |  SCRIPT [ARG …]  |  "
            "-m MODULE [ARG …]  |  --numerics -- COMMAND [ARG …]"
        )
        parser.epilog = (
            "COMMAND compiles, runs, compares, and exits with a nonzero status when the result is wrong. It is run"
            " with all fusions, with none, then with the first half of them, and so on; its output goes to files."
            " A SCRIPT or MODULE, and with --numerics a COMMAND, need not compare anything: `inspect-compile"
            " numerics` checks whether a launch is wrong in each run, and the program's exit status is ignored."
        )
        parser.add_argument(
            "--numerics",
            action="store_true",
            help="check the launches of each graph's first call against fp64; without `--` that is the check anyway",
        )
        parser.add_argument(
            "--graph", metavar="G", help="bisect the fusions of this graph only; the others compile as usual"
        )
        parser.add_argument("--dump", metavar="DIR", help="where the runs are recorded; a new or empty directory")

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the check until the fusion is found."""
        from inspect_compile.commands.program import command_of
        from inspect_compile.dump import paths
        from inspect_compile.dump.root import make_root
        from inspect_compile.facts import NumericsRequest
        from inspect_compile.launch.bisect import Check
        from inspect_compile.tables.text import number_of

        if arguments.program is None or not arguments.program.words:
            ways = "bisect-fusions -- COMMAND, or bisect-fusions SCRIPT, which numerics checks"
            raise CommandError(f"no {'program' if arguments.numerics else 'check'} given: {ways}")
        path, argv = command_of(arguments.program, arguments.commands)
        now = f"{datetime.now():%Y_%m_%d_%H_%M_%S_%f}"
        root = Path(arguments.dump or Path(paths.BASE) / f"bisect_{now}-pid_{os.getpid()}")
        make_root(root.absolute(), is_dump=False)
        is_plain = arguments.program.kind != "command"
        by_numerics = arguments.numerics or is_plain
        numerics = NumericsRequest().plain() if by_numerics else None
        check = Check(path, argv, root.absolute(), plain=is_plain, numerics=numerics)
        search = _Search(check, argv, by_numerics=by_numerics)
        try:
            return search.found(arguments.graph or "")
        except UndecidedError as error:
            tell(str(error))
            if error.run is not None:
                _tell_output(error.run)
            tell(f"{number_of(search.count, 'run')}, recorded in {root}")
            return 1
        except KeyboardInterrupt:
            tell_part("\n")
            tell(f"stopped; what was run so far is in {root}")
            raise


class _Search:
    """The runs of one check."""

    def __init__(self, check: "Check", argv: list[str], *, by_numerics: bool) -> None:
        """`by_numerics`: what was found in a run's launches counts, and not the exit status."""
        self._check = check
        self._argv = argv
        self._by_numerics = by_numerics
        self.count = 0

    def found(self, graph: str) -> int:
        """Search, and print what was found. Raises UndecidedError if the runs do not show it."""
        from inspect_compile.commands.printing import print_table
        from inspect_compile.dump import Dump
        from inspect_compile.graph.names import operations_in
        from inspect_compile.launch import bisect
        from inspect_compile.tables.fusion.bisection import bisection, commands

        complete = self.run("with all fusions", bisect.ALL)
        if not complete.fails:
            raise UndecidedError("the check succeeds with all fusions: nothing to bisect")
        graph = _full_name(complete, graph)
        count = bisect.most(complete, graph)
        if not count:
            raise UndecidedError(
                f"no fusion was done{f' in {graph}' if graph else ''}: fusion is not the cause", complete
            )
        limits = {"graph": graph} if graph else {}
        without = self.run("with none", bisect.NONE, limit=0, **limits)
        if without.fails:
            raise UndecidedError("it also fails without any fusion: fusion does not change the result", without)
        runs = {0: without, count: complete}

        def fails(allowed: int) -> bool:
            run = self.run(f"with the first {allowed} of {count}", f"first_{allowed}", limit=allowed, **limits)
            runs[allowed] = run
            if not bisect.is_start_of(run, complete, allowed, graph):
                raise UndecidedError(
                    f"torch did not do the same {allowed} fusions again: the order of fusions differs from run to run",
                    run,
                )
            return run.fails

        number = bisect.first_failing(count, fails)
        pairs = bisect.at(complete, number, graph)
        denied = [bisect.denial(row, operations_in) for _, row in pairs]
        words = " and ".join(f"{row.a} × {row.b}" for _, row in pairs)
        confirmed = self.run(f"with all but {words}", f"without_{number}", deny=denied)
        if confirmed.fails:
            self._check_again(runs[number], number, limits)
            self._check_again(runs[number - 1], number - 1, limits)
        found = [(Dump(part.root), row) for part, row in pairs]
        print_table(bisection(found, number, count, self.count, fixes=not confirmed.fails))
        for command in commands(found):
            say(f"  {command}")
        return 0

    def _check_again(self, before: "Run", allowed: int, limits: dict[str, str]) -> None:
        """Raises UndecidedError if the same run gives another result."""
        again = self.run(f"with the first {allowed} again", f"{before.name}_again", limit=allowed, **limits)
        if again.fails != before.fails:
            answers = "failed, then succeeded" if before.fails else "succeeded, then failed"
            raise UndecidedError(f"the check is flaky: with the first {allowed} fusions it {answers}", again)

    def run(self, label: str, name: str, **steer: object) -> "Run":
        """Do one run, and print it on one line."""
        from inspect_compile.commands.run import first_record, last_record
        from inspect_compile.tables.text import seconds_text, unbroken

        self.count += 1
        tell_part(f"inspect-compile: run {self.count}, {unbroken(label)}: ")
        run = self._check.run(name, lambda root, setting: first_record(root, self._argv, setting), **steer)
        last_record(run.root, run.status)
        how = "succeeds" if not run.fails else f"fails ({_status(run.status)})"
        ended = how
        compared = 0
        if self._by_numerics:
            run, how, compared = _judged(run)
        tell_part(f"{unbroken(how)}, {seconds_text(run.seconds)}\n")
        if run.trouble:
            raise CommandError(f"{run.trouble}; with this torch, fusions can't be counted")
        if self._by_numerics and not compared:
            raise UndecidedError(f"no launch could be checked, so there is no verdict; the program {ended}", run)
        return run


def _judged(run: "Run") -> tuple["Run", str, int]:
    """The run with a status that says whether something is wrong, that in words, and how many results were compared."""
    from inspect_compile.analysis.numerics.verdicts import summary
    from inspect_compile.dump import Dump
    from inspect_compile.graph import Graphs
    from inspect_compile.tables.text import number_of

    sums = [summary(Graphs(part)) for part in (Dump(run.root), *map(Dump, Dump(run.root).other_processes))]
    status = WRONG if any(one.is_wrong for one in sums) else NOTHING_WRONG
    compared = sum(one.compared for one in sums)
    wrong = number_of(sum(one.wrong for one in sums), "result")
    words = f"{wrong} wrong" if status == WRONG else "nothing wrong" if compared else "not checked"
    return replace(run, status=status), words, compared


def _full_name(run: "Run", graph: str) -> str:
    """The name of the selected graph in whichever process compiled it."""
    from inspect_compile.analysis.lookup.answer import Found
    from inspect_compile.analysis.lookup.graphs import find_graph
    from inspect_compile.dump import Dump
    from inspect_compile.tables.lookup_text import unresolved_text

    if not graph:
        return ""
    failure = None
    for part in run.parts:
        answer = find_graph(Dump(part.root), graph)
        if isinstance(answer, Found):
            return answer.all[0].graph
        failure = failure or CommandError(unresolved_text(answer))
    raise failure or UndecidedError("no fusion was done", run)


def _status(status: int) -> str:
    import signal

    return f"exit {status}" if status > 0 else signal.Signals(-status).name


def _tell_output(run: "Run") -> None:
    lines = run.log.read_text("utf-8", "replace").splitlines()
    tell(f"the end of what it printed, {run.log}:")
    for line in lines[-_LAST_LINES:]:
        tell(line, name="  ")
