"""Shared by several tables: the selected graphs, their titles, commands that show more."""

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec
from rich.console import RenderableType
from rich.text import Text

from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.dumps.nothing import nothing_text
from inspect_compile.analysis.lookup.row_filter import NodeName, matches
from inspect_compile.facts import Graph
from inspect_compile.tables.columns import Column
from inspect_compile.tables.styled_text import Stack, joined, styled
from inspect_compile.tables.terminal_table import TerminalTable
from inspect_compile.tables.text import clean, one_line, unbroken

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_OMITTED = 4

Row = TypeVar("Row", bound=msgspec.Struct)
Record = TypeVar("Record")


def title(graph: Graph, *more: str) -> Text:
    """`model__0_forward_1.0  forward 0/0   7 nodes`."""
    words = [f"{graph.kind} {graph.compile_id or ''}".rstrip(), *(word for word in more if word)]
    return joined((clean(graph.graph), "bold"), "  ", (clean("   ".join(words)), "dim"), one_line=True)


def command(dump_argument: str, table: str, *words: str) -> str:
    """`show d1 fusion op10 op12`."""
    return _command("show", dump_argument, table, *words)


def why_command(dump_argument: str, *words: str) -> str:
    """`why d1 op10 op12`."""
    return _command("why", dump_argument, *words)


def _command(first: str, dump_argument: str, *words: str) -> str:
    # A name could contain a command of its own.
    quoted = (
        f"{'--node ' if isinstance(word, NodeName) else ''}{shlex.quote(unbroken(word))}" for word in words if word
    )
    return " ".join([first, *([dump_argument.strip()] if dump_argument.strip() else []), *quoted])


def more(left: int, evidence: str) -> Text:
    """The last line if rows are left out, with the command that shows them."""
    return joined((f"… {left:,} more", "dim"), "   ", (evidence, "cyan"))


def limited(
    columns: Sequence[Column[Row]],
    rows: Sequence[Row],
    limit: int | None,
    evidence: str,
    *,
    title: Text | None = None,
    notes: Iterable[str | Text] = (),
) -> TerminalTable[Row]:
    """A table of at most `limit` of the rows; `evidence` is the command that shows all of them."""
    shown, left_out = first_of(rows, limit, evidence)
    return TerminalTable(columns, shown, title=title, notes=[*left_out, *notes])


def first_of(rows: Sequence[Record], limit: int | None, evidence: str) -> tuple[Sequence[Record], list[str | Text]]:
    """At most `limit` of `rows`; and a note if some are left out, with `evidence`, the command that shows all."""
    if limit is None or len(rows) <= limit:
        return rows, []
    return rows[:limit], [more(len(rows) - limit, evidence)]


def omitted(dump: "Dump") -> list[Text]:
    """What the dump does not contain because of a limit, one line each."""
    lines = [styled(f" Not all is here: {one_line(row.message)}", "yellow") for row in dump.run.omitted[:_OMITTED]]
    left = len(dump.run.omitted) - len(lines)
    return [*lines, *([styled(f" … and {left:,} more of that kind in run.json", "yellow")] if left > 0 else [])]


def listing(
    dump: "Dump",
    graph: str | None,
    rows: Callable[[Graph], Iterable[Row]],
    columns: Sequence[Column[Row]],
    *,
    name: str,
    told: Callable[[list[Row]], str],
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
    asked: Sequence[str] = (),
    none: str = "nothing of this was recorded",
    below: Callable[[Graph, list[Row]], Iterable[str]] = lambda graph, rows: (),
) -> Stack:
    """One sheet for each graph with the rows that involve all of `names`, at most `limit` of them.

    `told` describes them in the title; `none` is shown if there are none; `asked` are the options that selected rows;
    `below` describes what the rows leave out.
    """
    sheets: list[RenderableType] = []
    for found in graphs_of(dump, graph):
        kept = [row for row in rows(found) if matches(row, names)]
        notes = [styled(note, style="dim") for note in below(found, kept)]
        if not kept:
            notes.insert(0, styled(f"{none} that concerns {' and '.join(names)}" if names else none, style="dim"))
        which = [] if graph is None else ["--graph", found.graph]
        evidence = command(dump_argument, name, *names, *asked, *which, "--all")
        sheets.append(limited(columns, kept, limit, evidence, title=title(found, told(kept)), notes=notes))
    return Stack(sheets or [styled(nothing_text(dump), style="dim")])


@dataclass(frozen=True)
class Listing(Generic[Row]):
    """A table with one row for each fact, as listed in `TABLES`."""

    name: str
    columns: Sequence[Column[Row]]
    rows: "Callable[[Dump, str], Iterable[Row]]"
    """The rows of the graph with this name."""
    told: Callable[[list[Row]], str]
    none: str = "nothing of this was recorded"

    def __call__(
        self,
        dump: "Dump",
        graph: str | None = None,
        *,
        names: tuple[str, ...] = (),
        limit: int | None = None,
        dump_argument: str = "",
    ) -> Stack:
        """See `listing`."""

        def rows(found: Graph) -> Iterable[Row]:
            return self.rows(dump, found.graph)

        return listing(
            dump,
            graph,
            rows,
            self.columns,
            name=self.name,
            told=self.told,
            names=names,
            limit=limit,
            dump_argument=dump_argument,
            none=self.none,
        )
