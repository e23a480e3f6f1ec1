"""`diff`: where two dumps compiled something different."""

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspect_compile.analysis.compare.causes.records import Cause
    from inspect_compile.analysis.compare.differences import Difference
    from inspect_compile.dump import Dump


class Diff:
    """Compares what two dumps recorded."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        parser.add_argument("a", metavar="DUMP", help="a dump")
        parser.add_argument("b", metavar="DUMP", help="the dump to compare it with")
        parser.add_argument("--rank", metavar="R", type=int, help="rank of both distributed runs (0, 1, …)")
        parser.add_argument("--target", metavar="GPU", help="target of both runs; a run without targets has none")
        parser.add_argument("--json", action="store_true", help="one JSON object per line for each difference")
        parser.add_argument(
            "--kernels", action="store_true", help="show the kernels of both side by side: launches, bytes, time"
        )
        parser.add_argument(
            "--stage",
            nargs=2,
            metavar=("STAGE", "KERNEL"),
            help="show how a kernel and its counterpart differ in ttir, ttgir, llir, ptx, sass, amdgcn, isa or asm"
            " (C++), or in their source",
        )
        parser.add_argument(
            "--compile", action="store_true", help="with --stage asm: compile C++ although it is not in torch's cache"
        )
        parser.add_argument("--all", action="store_true", help="show all differences, with all their lines")

    def run(self, arguments: argparse.Namespace) -> int:
        """Print the differences."""
        from inspect_compile.analysis.compare.causes.find import causes
        from inspect_compile.analysis.compare.differences import compare
        from inspect_compile.analysis.compare.pairing import paired
        from inspect_compile.commands.dump_selection import chosen, for_target, needs_rank, needs_whole, tell_left_out

        dumps: list[Dump] = []
        for path in (arguments.a, arguments.b):
            dump = chosen(path, arguments.rank)
            dump = for_target(dump, arguments.target if dump.run.targets else None)
            needs_rank(dump, "graphs")
            dumps.append(dump)
        needs_whole(*dumps)
        if arguments.kernels:
            return _kernels(dumps, arguments)
        if arguments.stage:
            from inspect_compile.commands.comparing.stage_texts import diff_stage

            return diff_stage((dumps[0], dumps[1]), names_of(arguments.a, arguments.b), arguments)
        names = names_of(arguments.a, arguments.b)
        both = paired(*dumps)
        found, why = compare(both, names), causes(both, names)
        if arguments.json:
            from inspect_compile.commands.printing import print_json

            print_json([*why, *found])
        else:
            _print(why, found, dumps, arguments)
        tell_left_out(*dumps)
        return 1 if found or why else 0


def _kernels(dumps: "list[Dump]", arguments: argparse.Namespace) -> int:
    """Print the kernels beside each other."""
    from inspect_compile.analysis.compare.side_by_side import Side, side_by_side
    from inspect_compile.commands.printing import print_json, print_table
    from inspect_compile.commands.show import LIMIT
    from inspect_compile.tables.compare.side_by_side import beside

    names = names_of(arguments.a, arguments.b)
    rows = side_by_side([Side(name, dump) for name, dump in zip(names, dumps, strict=True)])
    if arguments.json:
        print_json(rows)
    else:
        every = shlex.join(["diff", arguments.a, arguments.b, "--kernels", "--all"])
        print_table(beside(rows, every, limit=None if arguments.all else LIMIT))
    return 0 if all(row.is_same for row in rows) else 1


def names_of(a: str, b: str) -> tuple[str, str]:
    """The last parts of the two paths, if these differ."""
    names = Path(a).resolve().name, Path(b).resolve().name
    return names if names[0] != names[1] else (a, b)


def _print(why: "list[Cause]", found: "list[Difference]", dumps: "list[Dump]", arguments: argparse.Namespace) -> None:
    from inspect_compile.commands.dump_selection import dump_argument
    from inspect_compile.commands.printing import print_table
    from inspect_compile.commands.show import LIMIT
    from inspect_compile.tables.compare.differences import Names, comparison

    given = [
        dump_argument(path, arguments.rank, arguments.target if dump.run.target else None)
        for path, dump in zip((arguments.a, arguments.b), dumps, strict=True)
    ]
    limit = None if arguments.all else LIMIT
    every = shlex.join(["diff", arguments.a, arguments.b, "--all"])
    names = Names((given[0], given[1]), (given[0], given[1]))
    print_table(comparison(why, found, (dumps[0], dumps[1]), names, limit=limit, every=every))
