"""`show`: a summary of a dump, or one of its tables, for people or (`--json`) for programs."""

import argparse
import gc
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    import msgspec

    from inspect_compile.analysis.fusion_filter import FusionFilter
    from inspect_compile.analysis.measured import Key
    from inspect_compile.analysis.roofline import CallTime
    from inspect_compile.dump import Dump

LIMIT: Final = 40
"""Default number of rows of each graph on a terminal."""
DEFAULT: Final = "summary"
BY_WHAT: Final = ("module", "op", "kernel", "line")
OF_ALL_RANKS: Final = ("summary", "ranks", "overhead", "remarks")
"""Tables that also apply to a run whose ranks compiled and whose first process did not."""


class Show:
    """Prints a table."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        from inspect_compile.commands.chosen import add_rank, add_replay, add_target
        from inspect_compile.commands.kernel_stage import add_stage
        from inspect_compile.tables import BY, PAGES, TABLES

        parser.usage = (
            "inspect-compile show [DUMP] [TABLE] [NAME …] "
            "[--rank R] [--target GPU] [--replay N] [--graph G] [--node N] [--reason CODE] [--line LINE] [--round N] "
            "[--at LINE] [--stage STAGE] [--config LABEL] [--by module|op|kernel|line] [--trace FILE] [-o FILE] "
            "[--json] [--limit N | --all]"
        )
        parser.add_argument("words", nargs="*", metavar="DUMP TABLE NAME", help=f"TABLE: {' '.join((*TABLES, *PAGES))}")
        add_rank(parser)
        add_target(parser)
        add_replay(parser)
        parser.add_argument("--graph", metavar="G", help="one graph: its name, a part of it, its kind or compile id")
        parser.add_argument("--node", metavar="N", help="only rows about one FX node: `add`, `true_graph_0/add`")
        parser.add_argument("--reason", metavar="CODE", help="fusion: only pairs with this reason, `numel-mismatch`")
        parser.add_argument(
            "--line",
            metavar="LINE",
            help="fusion: only pairs that a line has to do with, `model.py:12`; "
            "kernel: what its stages have of it, or of a line of the kernel's source, `25`",
        )
        parser.add_argument("--round", metavar="N", type=int, help="fusion: only this round")
        parser.add_argument(
            "--at", metavar="LINE", help="memory: who holds it after a line of the output code, or `peak`"
        )
        parser.add_argument(
            "-o", "--output", metavar="FILE", help="time: write it as a trace for Perfetto, and print nothing else"
        )
        add_stage(parser)
        parser.add_argument(
            "--trace", metavar="FILE", help="roofline: a profile of the same program, to measure against"
        )
        parser.add_argument("--by", choices=BY_WHAT, help=f"{' '.join(BY)}: one row for each of these")
        parser.add_argument("--json", action="store_true", help="JSON, one object per line")
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
        from inspect_compile.analysis.about import the_node
        from inspect_compile.analysis.graphs import find
        from inspect_compile.commands.chosen import chosen, for_target, needs_rank, of_replay, said, tell_left_out
        from inspect_compile.commands.kernel_stage import asks_for_stage, show_stage

        path, name, names = _split(arguments.words, (*tables.TABLES, *tables.PAGES))
        dump = of_replay(for_target(chosen(path, arguments.rank), arguments.target), arguments.replay)
        if name not in OF_ALL_RANKS:
            needs_rank(dump, name)
        graph = find(dump, arguments.graph).graph if arguments.graph is not None else None
        of_stage = asks_for_stage(arguments, name)
        if arguments.node is not None and not of_stage:
            names = (*names, the_node(dump, graph, arguments.node))
        if arguments.by is not None and name not in tables.BY:
            raise CommandError(f"{name}: --by rolls up the tables {' '.join(tables.BY)}")
        asked = None if of_stage else _asked(arguments, name, dump, graph)
        times = {} if arguments.trace is None else {"measured": _measured(dump, name, arguments.trace)}
        limit = None if arguments.all else arguments.limit
        if arguments.output is not None:
            return _write_trace(dump, name, arguments.output)
        called = said(path, arguments.rank, arguments.target, arguments.replay)
        if of_stage:
            show_stage(arguments, dump, graph, names, called)
        elif name in tables.PAGES:
            if arguments.json:
                print_json(tables.page_rows(name, dump, graph, names), (), limit)
            else:
                print_table(tables.page(name, dump, graph, names, called))
        elif arguments.json:
            print_json(filter(asked, tables.rows(name, dump, graph, arguments.by, **times)), names, limit)
        else:
            limit = LIMIT if limit is None and not arguments.all else limit
            given = {"asked": asked, "by": arguments.by} | _at(arguments.at, name)
            more = {option: value for option, value in given.items() if value is not None}
            print_table(tables.table(name, dump, graph, names=names, limit=limit, said=called, **more, **times))
        if name != DEFAULT or arguments.json:
            tell_left_out(dump)
        _finish(dump)
        return 0


def _asked(arguments: argparse.Namespace, name: str, dump: "Dump", graph: str | None) -> "FusionFilter | None":
    """The filter for rows of `fusion` from the options; None for all rows."""
    given = {"reason": arguments.reason, "line": arguments.line, "in_round": arguments.round}
    if all(value is None for value in given.values()):
        return None
    if name != "fusion":
        raise CommandError(f"{name}: --reason, --line and --round choose rows of the table fusion")
    from inspect_compile.analysis.fusion_filter import FusionFilter
    from inspect_compile.tables import rows

    return FusionFilter(dump, graph, rows(name, dump, graph), **given)


def _write_trace(dump: "Dump", name: str, file: str) -> int:
    """Write the compile times as a trace to `file`."""
    if name != "time":
        raise CommandError(f"{name}: -o writes the table time as a trace")
    from inspect_compile.analysis.time_trace import time_trace
    from inspect_compile.commands.output_file import write

    write(Path(file), time_trace(dump))
    sys.stdout.write(f"{file}; look at it with https://ui.perfetto.dev\n")
    return 0


def _at(line: str | None, name: str) -> dict[str, str]:
    """The moment given with --at, as an option of the table `memory`."""
    if line is None:
        return {}
    if name != "memory":
        raise CommandError(f"{name}: --at chooses a moment of the table memory")
    if line != "peak" and not (line.isascii() and line.isdigit() and len(line) < 10):
        raise CommandError(f"--at {line}: neither a line of output_code.py nor `peak`")
    return {"at": line}


def _measured(dump: "Dump", name: str, trace: str) -> "dict[Key, CallTime]":
    """Time of each launch in a profile."""
    if name != "roofline":
        raise CommandError(f"{name}: --trace is for roofline; `inspect-compile attribute` tells of a profile alone")
    from inspect_compile.commands.attribute import measured

    return measured(dump, trace)


def _split(words: list[str], tables: tuple[str, ...]) -> tuple[str | None, str, tuple[str, ...]]:
    """The dump, the table and the names in the words. A first word that is no path but a table is the table."""
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


def print_table(found: object) -> None:
    """Print a renderable, on a terminal with colours."""
    from rich.console import Console

    class Terminal(Console):
        """A console that leaves a closed output pipe to the command line's handling."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    Terminal(highlight=False, markup=False, emoji=False, soft_wrap=False).print(found)


def print_json(rows: "Iterable[msgspec.Struct]", names: tuple[str, ...], limit: int | None) -> None:
    """Print the rows that involve all of `names`, one JSON object per line."""
    import msgspec

    from inspect_compile.analysis.about import concerns
    from inspect_compile.tables.text import terminal_safe

    encoder, written = msgspec.json.Encoder(), 0
    for row in rows:
        if limit is not None and written >= limit:
            break
        if concerns(row, names):
            sys.stdout.buffer.write(terminal_safe(encoder.encode(row)) + b"\n")
            written += 1
    sys.stdout.buffer.flush()


def _finish(dump: "Dump") -> None:
    """For a run that was killed: make the derived files, after the output."""
    from inspect_compile.dump import paths

    if not (dump.root / paths.FINISHED).exists():
        from inspect_compile.finish import ensure_finished

        sys.stdout.flush()
        ensure_finished(dump)
