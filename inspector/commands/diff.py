"""`diff`: what two recorded compiles do differently."""

import argparse

LIMIT = 12
"""Differences of each level on a terminal, unless told otherwise."""


class Diff:
    """Compares two dumps: graphs, nodes, kernels by content, guards, recompiles, costs."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        parser.add_argument("first", metavar="DUMP", help="the one to compare with")
        parser.add_argument("second", metavar="DUMP", help="the other one; a folder of one rank is a dump too")
        parser.add_argument("--json", action="store_true", help="the differences, one JSON object a line")
        parser.add_argument("--limit", metavar="N", type=int, default=LIMIT, help="at most N of each level")
        parser.add_argument("--all", action="store_true", help="all of them")

    def run(self, arguments: argparse.Namespace) -> int:
        """Print them."""
        from inspect_compile.analysis.compare import compare
        from inspect_compile.commands.opening import opened, tell_left_out
        from inspect_compile.commands.printing import print_json, print_table

        dumps = opened(arguments.first, None), opened(arguments.second, None)
        found = compare(*dumps)
        if arguments.json:
            print_json(found)
        else:
            from inspect_compile.tables.differences import between

            limit = None if arguments.all else arguments.limit
            print_table(between(found, (arguments.first, arguments.second), limit))
        tell_left_out(*dumps)
        return 0
