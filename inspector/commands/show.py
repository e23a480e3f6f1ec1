"""`show`: a summary of a dump, or one of its tables, for people or (`--json`) for programs."""

import argparse
import gc
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from inspect_compile.commands.opening import add_rank, opened, tell_left_out
from inspect_compile.commands.printing import print_json, print_table
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    import msgspec

    from inspect_compile.dump import Dump

LIMIT: Final = 40
"""Rows of each graph on a terminal, unless told otherwise."""
DEFAULT: Final = "summary"
WHOLE_RUN: Final = ("summary", "ranks")
"""Tables that tell of all processes of a run."""


class Show:
    """Prints a table."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add what to show and how."""
        from inspect_compile.tables import TABLES

        parser.usage = "inspect-compile show [DUMP] [TABLE] [NAME …] [--graph G] [--json] [--limit N | --all]"
        parser.add_argument("words", nargs="*", metavar="DUMP TABLE NAME", help=f"TABLE: {' '.join(TABLES)}")
        parser.add_argument("--graph", metavar="G", help="one graph: its name, a part of it, its kind or compile id")
        add_rank(parser)
        parser.add_argument("--json", action="store_true", help="the facts themselves, one JSON object a line")
        parser.add_argument("--limit", metavar="N", type=int, help=f"at most N rows of each graph (default {LIMIT})")
        parser.add_argument("--all", action="store_true", help="all rows")

    def run(self, arguments: argparse.Namespace) -> int:
        """Print it."""
        is_collecting = gc.isenabled()
        gc.disable()  # nothing here lives long enough to be worth collecting
        try:
            return self._show(arguments)
        finally:
            if is_collecting:
                gc.enable()

    @staticmethod
    def _show(arguments: argparse.Namespace) -> int:
        from inspect_compile import tables
        from inspect_compile.analysis.graphs import find

        path, name, names = _split(arguments.words, tuple(tables.TABLES))
        dump = opened(path, arguments.rank, one=name not in WHOLE_RUN)
        graph = find(dump, arguments.graph).graph if arguments.graph is not None else None
        limit = None if arguments.all else arguments.limit
        if arguments.json:
            print_json(_of(tables.rows(name, dump, graph), names, limit))
        else:
            limit = LIMIT if limit is None and not arguments.all else limit
            said = path or ""
            if arguments.rank is not None:
                said = f"{said} --rank {arguments.rank}".strip()
            print_table(tables.table(name, dump, graph, names=names, limit=limit, said=said))
        if name != DEFAULT or arguments.json:
            tell_left_out(dump)
        _finish(dump)
        return 0


def _split(words: list[str], tables: tuple[str, ...]) -> tuple[str | None, str, tuple[str, ...]]:
    """The dump, the table and the names that the words mean. A first word that is no path but a table is the table."""
    rest = list(words)
    path = None
    if rest and not (rest[0] in tables and not os.path.exists(rest[0])):
        path = rest.pop(0)
    if not rest:
        if path is not None and not os.path.exists(path) and os.sep not in path:
            raise CommandError(f"{path}: neither a dump nor a table; the tables are: {' '.join(tables)}")
        return path, DEFAULT, ()
    name = rest.pop(0)
    if name not in tables:
        raise CommandError(f"{name}: no such table; there are: {' '.join(tables)}")
    return path, name, tuple(rest)


def _of(rows: "Iterable[msgspec.Struct]", names: tuple[str, ...], limit: int | None) -> "Iterator[msgspec.Struct]":
    """At most `limit` of the rows, only those that concern all of `names`."""
    from inspect_compile.analysis.about import concerns

    return islice((row for row in rows if concerns(row, names)), limit)


def _finish(dump: "Dump") -> None:
    """The first reader of a dump that was torn makes its derived files, after having shown what was asked for."""
    from inspect_compile.dump import paths

    if not (dump.root / paths.FINISHED).exists():
        from inspect_compile.finish import ensure_finished

        sys.stdout.flush()
        ensure_finished(dump)
