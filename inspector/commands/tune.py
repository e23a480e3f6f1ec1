"""`tune`: tries changes that could make a program's steps faster, and writes those that did as a patch."""

import argparse
import os
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspect_compile.commands.streams import tell
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.analysis.compare.paired import Gain
    from inspect_compile.dump import Writer
    from inspect_compile.facts.trials import Change, Repeated, TrialRun, TriedChange
    from inspect_compile.knowledge.tuning import Candidate, Program
    from inspect_compile.launch.tune.search import Search
    from inspect_compile.launch.tune.trials import Trials

_LIMIT: Final = 600.0
"""Seconds that the first run may take."""


class Tune:
    """Finds the changes that make a program's steps faster and keep its numbers."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that stand before the program."""
        parser.usage = "inspect-compile tune [options] SCRIPT [ARG …]  |  -m MODULE [ARG …]"
        parser.epilog = (
            "The program runs again and again, from its start until enough steps are timed. Whatever it writes,"
            " sends or asks for happens each time, and it is ended in the middle of a step. Your source files are"
            " not changed. Exit status: 0 if the search finished, with or without a faster change, 2 for an error."
        )
        parser.add_argument("--minutes", metavar="N", type=float, default=10.0, help="how long to search (default 10)")
        parser.add_argument("--step", metavar="FILE:LINE", type=_line, help="a line that runs once in each step")
        parser.add_argument("--yes", action="store_true", help="run it again and again without asking")
        parser.add_argument(
            "--beside-eager",
            action="store_true",
            help="try no changes: only time the steps, with and without torch.compile",
        )
        parser.add_argument(
            "--allow-precision", action="store_true", help="also keep changes of precision, such as TF32"
        )
        parser.add_argument(
            "-o", "--output", metavar="FILE", default="tune.patch", help="the diff (default tune.patch)"
        )
        parser.add_argument("--dump", metavar="DIR", help="where to record; a new or empty directory")

    def run(self, arguments: argparse.Namespace) -> int:
        """Search, print what was tried, and write the patch."""
        from inspect_compile.commands.program import command_of
        from inspect_compile.dump import Writer, paths
        from inspect_compile.dump.root import make_root
        from inspect_compile.launch.tune.trials import Trials

        program = arguments.program
        if program is None or program.kind == "command":
            raise CommandError("no program given: inspect-compile tune SCRIPT, or tune -m MODULE")
        path, argv = command_of(program, arguments.commands)
        _ask(arguments)
        until = time.monotonic() + 60 * arguments.minutes
        now = f"{datetime.now():%Y_%m_%d_%H_%M_%S_%f}"
        root = Path(arguments.dump or Path(paths.BASE) / f"tune_{now}-pid_{os.getpid()}").absolute()
        make_root(root)
        folder = root / paths.TRIALS
        folder.mkdir()
        writer = Writer(root)

        def ran(row: "TrialRun") -> None:
            writer.add(row)
            writer.flush()

        trials = Trials(path, argv, folder, ran, limit=_LIMIT)
        try:
            return _Tuning(trials, writer, root, argv, arguments, until).run()
        finally:
            trials.close()


def _ask(arguments: argparse.Namespace) -> None:
    if arguments.yes:
        return
    words = f"the program will run repeatedly for {arguments.minutes:g} minutes, with all that it writes and sends"
    if not sys.stdin.isatty():
        raise CommandError(f"{words}; confirm with --yes")
    tell(f"{words}. Go on? [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise CommandError("nothing was run")


class _Tuning:
    """One search, from the first run to the patch."""

    def __init__(
        self,
        trials: "Trials",
        writer: "Writer",
        root: Path,
        argv: list[str],
        arguments: argparse.Namespace,
        until: float,
    ) -> None:
        self._trials, self._writer, self._root = trials, writer, root
        self._argv, self._arguments, self._until = argv, arguments, until
        self._script = ""

    def run(self) -> int:
        """Do it; Ctrl-C ends the search, and what was found so far is written."""
        from inspect_compile.child.run_config import RunConfig
        from inspect_compile.commands.run import first_record, last_record
        from inspect_compile.knowledge.tuning import Program, without_compile
        from inspect_compile.launch.tune.search import FEWEST, Search, windows_for
        from inspect_compile.launch.tune.trials import Recorded, step_of
        from inspect_compile.tables.compare.tried import baseline_text
        from inspect_compile.tables.text import number_of, time_text

        first_look = min(10.0, 60 * self._arguments.minutes / 20)
        first = self._trials.first(
            Recorded(
                self._root,
                RunConfig(measure=True).plain(),
                lambda root, setting: first_record(root, self._argv, setting),
            ),
            seconds=first_look,
        )
        if first.answer is None or first.failure:
            why = first.failure or "it imports no torch"
            raise CommandError(f"the program cannot be tried: {why}; its output is in {first.log}")
        last_record(self._root, 0)
        step = step_of(first.answer, self._arguments.step)
        windows = windows_for(step)
        if windows is None:
            raise CommandError(
                f"{number_of(step.since_compile, 'step')} after the last compile ({_named(step)}) are too few to time;"
                f" at least {FEWEST} are needed"
            )
        self._script = first.answer.main
        program = Program.of(first.answer)
        without = without_compile(program)
        if self._arguments.beside_eager and without is None:
            raise CommandError("--beside-eager: no call of torch.compile in the program's own code could be left out")
        tell(f"a step is {_named(step)}, {time_text(step.seconds)}")
        search = Search(self._trials, step, windows, first.answer, self._until, self._tell)
        together, is_interrupted = None, False
        try:
            failure = search.begin(without)
            if failure:
                raise CommandError(f"the program's steps cannot be timed: {failure}")
            tell(baseline_text(search.seconds, search.noise, search.runs, search.eager))
            if not self._arguments.beside_eager:
                search.search(self._candidates(program), with_precision=self._arguments.allow_precision)
                together = search.together()
        except KeyboardInterrupt:
            is_interrupted = True
        if search.runs:
            self._end(search, step, first.answer.device, together, is_interrupted=is_interrupted)
        return 130 if is_interrupted else 0

    def _candidates(self, program: "Program") -> "list[Candidate]":
        """What can be tried, with what the findings of the recorded run promise."""
        from inspect_compile.analysis.findings.kept import findings_of
        from inspect_compile.dump import Dump
        from inspect_compile.facts import GraphBreak
        from inspect_compile.graph import Graphs
        from inspect_compile.knowledge.tuning import candidates

        dump = Dump(self._root)
        found = findings_of(Graphs(dump))
        hints = [hint for row in dump.rows(GraphBreak) for hint in row.hints]
        shares: dict[str, float] = {}
        for row in found:
            if row.share is not None:
                shares[row.kind] = shares.get(row.kind, 0.0) + row.share
        return candidates(program, [row.knob for row in found if row.knob], shares, hints)

    def _tell(self, row: "TriedChange") -> None:
        """One row: on the terminal, and in the dump at once."""
        from inspect_compile.tables.compare.tried import gain_text

        gained = gain_text(row.gain, row.plus_minus, row.pairs)
        tell("  ".join(filter(None, (f"{gained:>16}", row.words, row.outcome, row.numbers, row.why))), name="")
        self._writer.add(row)
        self._writer.flush()

    def _end(
        self, search: "Search", step: "Repeated", device: str, together: "Gain | None", *, is_interrupted: bool
    ) -> None:
        from inspect_compile.commands.printing import print_table
        from inspect_compile.dump import Dump
        from inspect_compile.facts import Tuned
        from inspect_compile.graph import Graphs
        from inspect_compile.tables.compare.tried import tried
        from inspect_compile.tables.parts import Request

        changes = [change for one in search.kept for change in one.changes]
        is_confirmed = together is None or search.is_gain(together)
        written = self._patch(changes) if changes and is_confirmed else ""
        tuned = Tuned(
            step=step,
            device=device,
            seconds=search.seconds,
            noise=search.noise,
            runs=search.runs,
            steps=search.steps,
            peak_bytes=search.peak_bytes,
            eager=search.eager,
            together=None if together is None else together.part,
            plus_minus=None if together is None else together.plus_minus,
            is_confirmed=is_confirmed,
            patch=written,
            is_interrupted=is_interrupted,
            is_baseline=self._arguments.beside_eager,
        )
        self._writer.add(tuned)
        self._writer.flush()
        print_table(tried(Request(Graphs(Dump(self._root)), dump_argument=str(self._root))))

    def _patch(self, changes: "list[Change]") -> str:
        """Write the diff; returns its path, empty if there is none."""
        from inspect_compile.patches import patch

        found = patch(changes, Path(self._script).absolute(), Path.cwd())
        for one in found.by_hand:
            tell(f"not in the patch, since no single call is there: {one}")
        if not found.diff:
            return ""
        Path(self._arguments.output).write_text(found.diff, encoding="utf-8")
        return str(self._arguments.output)


def _line(text: str) -> tuple[str, int]:
    """Both parts of `FILE:LINE`."""
    file, _, line = text.rpartition(":")
    if not file or not line.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not FILE:LINE; write train.py:41")
    return file, int(line)


def _named(step: "Repeated") -> str:
    return f"{step.what} {step.name} at {Path(step.where.file).name}:{step.where.line}"
