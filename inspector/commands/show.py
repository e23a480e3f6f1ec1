"""`show`: a summary of a dump, or one of its tables, for people or (`--json`) for programs."""

import argparse
import os
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from inspect_compile.commands.garbage import uncollected
from inspect_compile.commands.streams import say
from inspect_compile.errors import CommandError
from inspect_compile.graph import Graphs
from inspect_compile.tables.options import OPTIONS, OUTPUT, Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspect_compile.dump import Dump

LIMIT: Final = 40
"""Default number of rows of each graph on a terminal."""
DEFAULT: Final = "overview"


class Show:
    """Prints a table."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        from inspect_compile.commands.dump_selection import add_graph, add_part

        parser.usage = "inspect-compile show [DUMP] [TABLE] [NAME …] [OPTION …]"
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = _about_tables()
        parser.add_argument(
            "words",
            nargs="*",
            metavar="DUMP TABLE NAME",
            help="the dump, one of the tables below, and what it is about",
        )
        add_part(parser)
        add_graph(parser)
        parser.add_argument("--node", metavar="N", help="only rows about one FX node: `add`, `true_graph_0/add`")
        parser.add_argument("--json", action="store_true", help="JSON, one object per line")
        parser.add_argument("--facts", action="store_true", help="JSON, the recorded facts behind the rows")
        parser.add_argument("--limit", metavar="N", type=int, help=f"at most N rows for each graph (default {LIMIT})")
        parser.add_argument("--all", action="store_true", help="all rows")
        some = parser.add_argument_group("options of some tables")
        for takers in _takers().values():
            option = next(iter(takers.values()))
            helps: dict[str, list[str]] = {}
            for table, own in takers.items():
                helps.setdefault(own.help, []).append(table)
            joined_helps = "; ".join(f"{' '.join(tables)}: {help_text}" for help_text, tables in helps.items())
            some.add_argument(*option.flags, **option.keywords(), help=joined_helps)

    def run(self, arguments: argparse.Namespace) -> int:
        """Print it."""
        with uncollected():
            return self._show(arguments)

    @staticmethod
    def _show(arguments: argparse.Namespace) -> int:
        from inspect_compile import tables
        from inspect_compile.commands.dump_selection import (
            done_for_each,
            dump_argument,
            graphs_named,
            needs_rank,
            needs_recorded,
            selected,
        )
        from inspect_compile.commands.printing import print_json, print_table
        from inspect_compile.tables.styled_text import Stack

        path, name, names = _split(arguments.words, (*tables.TABLES, *tables.PAGES))
        options = _options(arguments, name)
        dump = selected(path, arguments)
        if name not in (tables.OF_ALL_PROCESSES if arguments.graph is None else tables.OF_ALL_RANKS):
            needs_rank(dump, name)
        graphs = graphs_named(dump, arguments.graph, only_one=name in tables.OF_ALL_RANKS)
        if (file := options.pop(OUTPUT.name, None)) is not None:
            return _write_file(name, dump, graphs, file, options)
        called = dump_argument(path, arguments.rank, arguments.target, arguments.replay)
        limit = None if arguments.all else arguments.limit
        is_json = arguments.json or arguments.facts
        if is_json:
            needs_recorded(dump, name)
        if arguments.facts:
            dump = dump.as_recorded()
        if name == "kernel" and (options or arguments.node is not None):
            from inspect_compile.commands.kernel_stage import show_stage

            show_stage(arguments, dump, graphs, names, called)
            return _finished(dump)
        if arguments.node is not None:
            from inspect_compile.analysis.lookup.answer import together
            from inspect_compile.analysis.lookup.nodes import find_node_name
            from inspect_compile.tables.lookup_text import resolved

            answer = together(find_node_name(Graphs(dump, graph), arguments.node) for graph in graphs)
            names = (*names, resolved(answer)[0])

        def shown(graph: str | None) -> Any:
            """A table or page of one graph, or its rows."""
            if is_json:
                rows_of = tables.facts if arguments.facts else tables.rows
                rows = rows_of(name, Graphs(dump, graph), names, **options)
                return rows if len(graphs) == 1 else list(rows)
            most = LIMIT if limit is None and not arguments.all else limit
            return tables.table(name, Graphs(dump, graph), names=names, limit=most, dump_argument=called, **options)

        _needs_rows(name, dump, graphs, names, **options)
        every, _ = done_for_each(graphs, shown)  # a name need not be in all of the graphs
        if is_json:
            print_json(chain.from_iterable(every), names if arguments.facts else (), limit)
        else:
            print_table(every[0] if len(every) == 1 else Stack(every))
        return _finished(dump, has_told=name == DEFAULT and not is_json)


def _about_tables() -> str:
    """The tables, by what they are about, with a word on each."""
    from inspect_compile.tables import PAGES, SECTIONS
    from inspect_compile.tables.words import WORDS

    lines = []
    for title, names in (*((title, names) for _, title, names in SECTIONS), ("About one thing", PAGES)):
        lines += [f"{title}:", *(f"  {name:11} {WORDS[name]}" for name in names)]
    return "\n".join(["tables:", *(f"  {line}" for line in lines)])


def _takers() -> dict[str, dict[str, Option]]:
    """Each flag that only some tables take → those tables, and what it is there."""
    takers: dict[str, dict[str, Option]] = {}
    for name, options in OPTIONS.items():
        for option in options:
            takers.setdefault(option.flag, {})[name] = option
    return takers


def _options(arguments: argparse.Namespace, name: str) -> dict[str, Any]:
    """What was given for the table; CommandError for an option of others."""
    given: dict[str, Any] = {}
    for flag, takers in _takers().items():
        option = next(iter(takers.values()))
        value = getattr(arguments, option.name)
        if value is None:
            continue
        if name not in takers:
            raise CommandError(f"{name} takes no {flag}; it goes with: {' '.join(takers)}")
        given[option.name] = value
    return given


def _write_file(table: str, dump: "Dump", graphs: "Sequence[str | None]", file: str, options: dict[str, Any]) -> int:
    """Write a table in the form of another tool: compile times as a trace, or a flame as folded stacks."""
    from inspect_compile.commands.output_file import write

    if table == "time":
        from inspect_compile.export.formats import written
        from inspect_compile.export.perfetto import trace

        data, hint = written(trace([dump])), "open it at https://ui.perfetto.dev"
    else:
        from inspect_compile.analysis.cost.flame import flames
        from inspect_compile.tables.cost.flame import stack_text

        data = "".join(stack_text(flames(Graphs(dump, graph), **options)) for graph in graphs).encode()
        hint = "open it with https://www.speedscope.app, flamegraph.pl or inferno"
    write(Path(file), data)
    say(f"{file}; {hint}")
    return 0


def _split(words: list[str], tables: tuple[str, ...]) -> tuple[str | None, str, tuple[str, ...]]:
    """The dump, the table and the names in the words. A first word that is no path but a table is the table."""
    rest = list(words)
    path = None
    if rest and not (rest[0] in tables and not os.path.exists(rest[0])):
        path = rest.pop(0)
    if not rest:
        if path is not None and not os.path.exists(path) and os.sep not in path:
            raise CommandError(f"{path}: neither a dump nor a table{_there(path, tables)}")
        return path, DEFAULT, ()
    name = rest.pop(0)
    if name not in tables:
        raise CommandError(f"{name}: no such table{_there(name, tables)}")
    return path, name, tuple(rest)


def _there(asked: str, tables: tuple[str, ...]) -> str:
    """What was meant, and all tables."""
    from inspect_compile.commands.usage.near import did_you_mean

    return f"{did_you_mean(asked, tables) or ';'} the tables are: {' '.join(tables)}"


def _needs_rows(
    name: str, dump: "Dump", graphs: "Sequence[str | None]", names: tuple[str, ...], **options: Any
) -> None:
    """Raises CommandError where there are rows and none is about all of `names`: an empty table would say "none"."""
    from inspect_compile import tables

    def has_rows(names: tuple[str, ...]) -> bool:
        found = (tables.rows(name, Graphs(dump, graph), names, **options) for graph in graphs)
        return next(chain.from_iterable(found), None) is not None

    if names and name not in tables.PAGES and not has_rows(names) and has_rows(()):
        raise CommandError(f"{' '.join(names)}: no row of {name} is about that")


def _finished(dump: "Dump", *, has_told: bool = False) -> int:
    """Say what of a large dump was not read; the first reader of a dump that was torn makes its derived files."""
    from inspect_compile.commands.dump_selection import tell_left_out
    from inspect_compile.dump import paths

    if not has_told:
        tell_left_out(dump)

    if not (dump.root / paths.FINISHED).exists():
        from inspect_compile.finish import ensure_finished

        sys.stdout.flush()
        ensure_finished(dump)
    return 0
