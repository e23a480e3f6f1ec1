"""`diff`: where two dumps compiled something different."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspect_compile.analysis.compare.differences import Difference
    from inspect_compile.dump import Dump


class Diff:
    """Compares what two dumps recorded."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        parser.epilog = "Exit status: 0 where both compiled the same, 1 where they differ, 2 for an error."
        parser.add_argument("a", metavar="DUMP", help="a dump")
        parser.add_argument("b", metavar="DUMP", help="the dump to compare it with")
        parser.add_argument("--rank", metavar="R", type=int, help="of distributed runs, the rank (0, 1, …) of both")
        parser.add_argument(
            "--target", metavar="GPU", help="of runs with several targets, the one of both; a run without has none"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object per line for each difference")
        parser.add_argument("--all", action="store_true", help="all differences, with all their lines")

    def run(self, arguments: argparse.Namespace) -> int:
        """Print the differences."""
        from inspect_compile.analysis.compare.content import content
        from inspect_compile.analysis.compare.differences import compare
        from inspect_compile.commands.dump_selection import chosen, for_target, needs_rank, tell_left_out

        dumps: list[Dump] = []
        for path in (arguments.a, arguments.b):
            dump = chosen(path, arguments.rank)
            dump = for_target(dump, arguments.target if dump.run.targets else None)
            needs_rank(dump, "graphs")
            dumps.append(dump)
        found = compare(content(dumps[0]), content(dumps[1]), _names(arguments.a, arguments.b))
        if arguments.json:
            from inspect_compile.commands.printing import print_json

            print_json(found)
        else:
            _print(found, dumps, arguments)
        tell_left_out(*dumps)
        return 1 if found else 0


def _names(a: str, b: str) -> tuple[str, str]:
    """The last parts of the two paths, if these differ."""
    names = Path(a).resolve().name, Path(b).resolve().name
    return names if names[0] != names[1] else (a, b)


def _print(found: "list[Difference]", dumps: "list[Dump]", arguments: argparse.Namespace) -> None:
    from inspect_compile.commands.dump_selection import dump_argument
    from inspect_compile.commands.printing import print_table
    from inspect_compile.commands.show import LIMIT
    from inspect_compile.tables.compare.differences import comparison

    given = [
        dump_argument(path, arguments.rank, arguments.target if dump.run.target else None)
        for path, dump in zip((arguments.a, arguments.b), dumps, strict=True)
    ]
    print_table(comparison(found, (dumps[0], dumps[1]), (given[0], given[1]), limit=None if arguments.all else LIMIT))
