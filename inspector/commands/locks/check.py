"""`check`: holds what is compiled now against a contract, and says what differs, where and why."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_compile.commands.streams import say, tell
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.contracts.report import Report
    from inspect_compile.dump import Dump


class Check:
    """Compares with a contract."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that stand before the program, or at once behind it."""
        from inspect_compile.commands.locks.contract import FILE, add_program_options

        self._parser = parser
        parser.usage = (
            "inspect-compile check [options] SCRIPT [--lock FILE] [ARG …]  |  -m MODULE [ARG …]  |  -- COMMAND [ARG …]"
            "  |  DUMP"
        )
        parser.epilog = (
            "Our options may also follow SCRIPT directly; the program's own arguments begin with the first word"
            " that is not our option, or after `--`. A directory without a __main__.py instead of SCRIPT is a DUMP."
        )
        add_program_options(parser)
        parser.add_argument("--lock", metavar="FILE", default=FILE, help=f"the contract; default: {FILE}")
        parser.add_argument(
            "--update", action="store_true", help="update the contract to what is compiled now; its rules stay"
        )
        parser.add_argument(
            "--format",
            choices=("text", "github", "json"),
            default="text",
            help="github: also GitHub Actions annotations; json: one object per line",
        )
        parser.add_argument("--junit", metavar="FILE", help="also write JUnit XML")
        parser.add_argument("--sarif", metavar="FILE", help="also write SARIF 2.1.0")
        parser.add_argument("--all", action="store_true", help="also print differences that only follow from others")

    def run(self, arguments: argparse.Namespace) -> int:
        """Record the program, compare, and report."""
        from inspect_compile.analysis.lock.check import check, other_versions
        from inspect_compile.analysis.lock.rules import RuleError, parsed
        from inspect_compile.commands.locks.contract import clock, compiled, own_behind, recorded
        from inspect_compile.contracts.lockfile import read
        from inspect_compile.contracts.report import Report

        started = clock()
        own_behind(arguments, self._parser)
        old = read(Path(arguments.lock))
        try:
            rules = parsed(old.rules)
        except RuleError as error:
            raise CommandError(f"{arguments.lock}: {error}") from None
        of = recorded(arguments, "check")
        now = compiled(of, old.missed_over)
        result = check(old, now, rules)
        notes = []
        if not result.is_same_machine and old.machine.kind:
            notes.append(
                f"sources of kernels were not compared: the contract is of {old.machine.kind}, this is"
                f" {now.lock.machine.kind or 'not known'}"
            )
        if others := other_versions(old.made, now.lock.made):
            notes.append(f"the contract was made with {', '.join(others)}")
        notes += _of_numerics(of.dump)
        report = Report(
            arguments.lock, of.program, result.changes, os.environ.get("GITHUB_WORKSPACE") or of.root, len(rules),
            len(now.lock.graphs), clock() - started, tuple(notes),
        )  # fmt: skip
        self._report(report, arguments)
        if result.changes:
            tell(f"what was compiled now: inspect-compile show {of.path}")
        if arguments.update:
            import msgspec

            from inspect_compile.commands.output_file import write
            from inspect_compile.contracts.lockfile import text_of

            write(Path(arguments.lock), text_of(msgspec.structs.replace(now.lock, rules=old.rules)).encode())
            tell(f"{arguments.lock} updated")
            broken = [one for one in check(now.lock, now, rules).changes if not one.follows]
            return 1 if broken else 0
        return 1 if result.changes else 0

    @staticmethod
    def _report(report: "Report", arguments: argparse.Namespace) -> None:
        from inspect_compile import __version__
        from inspect_compile.commands.output_file import write

        if arguments.format == "json":
            from inspect_compile.commands.printing import print_json

            print_json(report.changes)
        else:
            from inspect_compile.contracts.text import text

            say(text(report, is_complete=arguments.all).rstrip("\n"))
        if arguments.format == "github":
            from inspect_compile.contracts.github import annotations

            sys.stdout.write(annotations(report))  # these are for the CI system
        if arguments.junit is not None:
            from inspect_compile.contracts.junit import xml

            write(Path(arguments.junit), xml(report))
        if arguments.sarif is not None:
            from inspect_compile.contracts.sarif import sarif

            write(Path(arguments.sarif), sarif(report, __version__))
        sys.stdout.flush()


def _of_numerics(dump: "Dump") -> list[str]:
    """What a check of numerics found, where the dump is of one: it does not count for the contract."""
    from inspect_compile.analysis.numerics.coverage import uncompared
    from inspect_compile.analysis.numerics.verdicts import summary
    from inspect_compile.graph import Graphs
    from inspect_compile.tables.numerics.coverage import uncompared_lines
    from inspect_compile.tables.text import number_of

    if dump.run.numerics is None:
        return []
    wrong = summary(Graphs(dump)).wrong
    found = [f"numerics: {number_of(wrong, 'result')} wrong"] if wrong else []
    return [*found, *(f"numerics: {line.plain}" for line in uncompared_lines(uncompared(Graphs(dump))))]
