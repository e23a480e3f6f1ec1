"""`lock`: writes down what was compiled, as a contract that `check` holds the program against."""

import argparse
from pathlib import Path

from inspect_compile.commands.streams import tell
from inspect_compile.errors import CommandError


class Lock:
    """Writes a contract."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that stand before the program, or at once behind it."""
        from inspect_compile.analysis.lock.records import MISSED_OVER
        from inspect_compile.commands.locks.contract import FILE, add_program_options
        from inspect_compile.commands.run import size

        self._parser = parser
        parser.usage = (
            "inspect-compile lock [options] SCRIPT [-o FILE] [ARG …]  |  -m MODULE [ARG …]  |  -- COMMAND [ARG …]  |  "
            "DUMP"
        )
        parser.epilog = (
            "Our options may also follow SCRIPT directly; the program's own arguments begin with the first word"
            " that is not our option, or after `--`. A directory without a __main__.py instead of SCRIPT is a DUMP."
        )
        add_program_options(parser)
        parser.add_argument("-o", "--output", metavar="FILE", default=FILE, help=f"the contract; default: {FILE}")
        parser.add_argument(
            "--rule",
            metavar="RULE",
            action="append",
            default=[],
            help="a rule in addition to the defaults; repeatable",
        )
        parser.add_argument(
            "--missed-over", metavar="SIZE", type=size, default=MISSED_OVER,
            help="list missed fusions of at least SIZE (default 64 kB)",
        )  # fmt: skip

    def run(self, arguments: argparse.Namespace) -> int:
        """Record the program, and write the file. The rules of one that is there are kept."""
        import msgspec

        from inspect_compile.analysis.lock.rules import DEFAULT, RuleError, parsed
        from inspect_compile.commands.locks.contract import compiled, own_behind, recorded
        from inspect_compile.commands.output_file import write
        from inspect_compile.contracts.lockfile import read, text_of
        from inspect_compile.tables.text import number_of

        own_behind(arguments, self._parser)
        path = Path(arguments.output)
        before = read(path).rules if path.is_file() else DEFAULT
        rules = (*before, *arguments.rule)
        try:
            parsed(rules)
        except RuleError as error:
            raise CommandError(f"{error}") from None
        of = recorded(arguments, "lock")
        found = compiled(of, arguments.missed_over).lock
        write(path, text_of(msgspec.structs.replace(found, rules=rules)).encode())
        counts = f"{number_of(len(found.graphs), 'graph')}, {number_of(len(rules), 'rule')}"
        if not found.graphs:
            counts += " (no graph was compiled: this holds frames and why they have none)"
        tell(f"{path} written: {counts}; what was compiled: {of.path}")
        return 0
