"""What a table is asked for, and what all of them are made of: titles, rows up to a limit, commands that show more."""

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

import msgspec

from inspect_compile.analysis.lookup.row_filter import NodeName
from inspect_compile.facts import Fact
from inspect_compile.graph import CompiledGraph, Graphs, grouped
from inspect_compile.tables.columns import Column
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, Table, heading, pointer, styled
from inspect_compile.tables.text import one_line, unbroken

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_OMITTED = 4

Row = TypeVar("Row", bound=msgspec.Struct)
Record = TypeVar("Record")


@dataclass(frozen=True)
class Request:
    """Which rows of a dump a table shows."""

    graphs: Graphs
    names: tuple[str, ...] = ()
    """Only rows that concern all of them."""
    limit: int | None = None
    """Maximum number of rows of each graph; None for all."""
    dump_argument: str = ""
    """The dump as the person typed it, for the commands that the table names."""

    @property
    def dump(self) -> "Dump":
        """The dump of the graphs."""
        return self.graphs.dump

    @property
    def graph(self) -> str | None:
        """The name of the graph that was asked for; None for all."""
        return self.graphs.name

    def kept(self, rows: Iterable[Row]) -> list[Row]:
        """Those of `rows` that concern all of the names."""
        if not self.names:
            return list(rows)
        from inspect_compile.analysis.lookup.attempts import concerning  # most tables need nothing of fusion

        return list(filter(concerning(self.graphs, self.names), rows))

    def command(self, table: str, *words: str) -> str:
        """A command about the same dump: `show d1 fusion op10 op12`."""
        return command(self.dump_argument, table, *words)

    def every(self, table: str, *options: str, graph: str | None = None) -> str:
        """The command that shows all rows of a table; of `graph` alone if it is given."""
        which = graph or self.graph
        return self.command(table, *self.names, *options, *(("--graph", which) if which else ()), "--all")

    def sheet(
        self,
        table: str,
        graph: CompiledGraph,
        columns: Sequence[Column[Record]],
        rows: Sequence[Record],
        about: str = "",
        *,
        options: Sequence[str] = (),
        notes: Iterable[str] = (),
    ) -> Table[Record]:
        """The rows of one graph under its title; `options` are those of `table` that selected them."""
        below = [styled(note, "dim") for note in notes]
        return limited(columns, rows, self.limit, self.every(table, *options), title=title(graph, about), notes=below)

    def stacked(self, sheets: Sequence[Block]) -> Stack:
        """The sheets below each other; without any, why there are none."""
        if sheets:
            return Stack(sheets)
        from inspect_compile.analysis.dumps.nothing import nothing_text

        return Stack([styled(nothing_text(self.dump), "dim")])


def title(graph: CompiledGraph, *more: str) -> StyledLine:
    """`model__0_forward_1.0  forward 0/0   7 nodes`."""
    return heading(
        graph.name,
        "   ".join((f"{graph.fact.kind} {graph.fact.compile_id or ''}".rstrip(), *(word for word in more if word))),
    )


def command(dump_argument: str, table: str, *words: str) -> str:
    """`show d1 fusion op10 op12`."""
    return _command("show", dump_argument, table, *words)


def open_command(dump_argument: str) -> str:
    """`inspect-compile open d1`."""
    return f"inspect-compile {_command('open', dump_argument, '')}".rstrip()


def why_command(dump_argument: str, *words: str) -> str:
    """`why d1 op10 op12`."""
    return _command("why", dump_argument, *words)


def _command(first: str, dump_argument: str, *words: str) -> str:
    # A name could contain a command of its own.
    quoted = (
        f"{'--node ' if isinstance(word, NodeName) else ''}{shlex.quote(unbroken(word))}" for word in words if word
    )
    return " ".join([first, *([dump_argument.strip()] if dump_argument.strip() else []), *quoted])


def more(left: int, evidence: str) -> StyledLine:
    """The last line if rows are left out, with the command that shows them."""
    return pointer(f"… {left:,} more", evidence)


def limited(
    columns: Sequence[Column[Record]],
    rows: Sequence[Record],
    limit: int | None,
    evidence: str,
    *,
    title: StyledLine | None = None,
    notes: Iterable[StyledLine] = (),
) -> Table[Record]:
    """A table of at most `limit` of the rows; `evidence` is the command that shows all of them."""
    shown, left_out = first_of(rows, limit, evidence)
    return Table(columns, shown, title=title, notes=[*left_out, *notes])


def first_of(rows: Sequence[Record], limit: int | None, evidence: str) -> tuple[Sequence[Record], list[StyledLine]]:
    """At most `limit` of `rows`; and a note if some are left out, with `evidence`, the command that shows all."""
    if limit is None or len(rows) <= limit:
        return rows, []
    return rows[:limit], [more(len(rows) - limit, evidence)]


def omitted(dump: "Dump") -> list[StyledLine]:
    """What the dump does not contain because of a limit, one line each."""
    lines = [styled(f" Incomplete: {one_line(row.message)}", "warn") for row in dump.run.omitted[:_OMITTED]]
    left = len(dump.run.omitted) - len(lines)
    return [*lines, *([styled(f" … and {left:,} more of that kind in run.json", "warn")] if left > 0 else [])]


Rows = Callable[..., Iterable[msgspec.Struct]]
"""A function of `Graphs` and the options of a table; of `Graphs` and names for a page."""


class DeclaredTable(NamedTuple):
    """A table or page of `show`, declared in the module of its columns, which `load` of this folder imports."""

    show: Callable[..., Block]
    """What people see, a function of a `Request` and the options."""
    rows: Rows
    """What `--json` prints."""
    facts: Rows | None = None
    """What the rows are made of, for `--facts`, a function of `Graphs`; None where the rows are facts, or of many."""


def each(rows: Callable[[CompiledGraph], Iterable[msgspec.Struct]]) -> Rows:
    """The rows that a function returns for each graph."""
    return lambda graphs: (row for graph in graphs for row in rows(graph))


def recorded(*kinds: type[Fact]) -> Rows:
    """The facts of these kinds, graph by graph."""
    return lambda graphs: (row for graph in graphs for kind in kinds for row in graph.rows(kind))


def recorded_of_compiles(*kinds: type[Fact]) -> Rows:
    """The facts of these kinds, compile by compile: Dynamo's, of which a graph has those of its compile."""
    return lambda graphs: chain.from_iterable(
        grouped((row for kind in kinds for row in graphs.of_compiles(kind)), lambda row: row.graph).values()
    )


@dataclass(frozen=True)
class Listing(Generic[Row]):
    """A table with one sheet for each graph, of the rows that a function returns for the graph's name."""

    name: str
    columns: Sequence[Column[Row]]
    rows: Callable[[CompiledGraph], Iterable[Row]]
    summary: Callable[[list[Row]], str] = lambda rows: ""
    """Describes the rows of a sheet in its title."""
    none: str = "not recorded"
    """What is said of a graph without rows."""
    options: Sequence[str] = ()
    """The options that selected the rows."""
    below: Callable[[CompiledGraph, list[Row]], Iterable[str]] = lambda graph, rows: ()
    """Describes what the rows leave out."""

    def __call__(self, request: Request) -> Stack:
        """The sheets."""
        return request.stacked([self._sheet(request, graph) for graph in request.graphs])

    def _sheet(self, request: Request, graph: CompiledGraph) -> Table[Row]:
        kept = request.kept(self.rows(graph))
        notes = list(self.below(graph, kept))
        if not kept:
            names = f" that concerns {' and '.join(request.names)}" if request.names else ""
            notes.insert(0, f"{self.none}{names}")
        return request.sheet(
            self.name, graph, self.columns, kept, self.summary(kept), options=self.options, notes=notes
        )

    def table(self, *kinds: type[Fact]) -> DeclaredTable:
        """The table of these rows, which are made of facts of these kinds, or are facts."""
        return DeclaredTable(self, each(self.rows), recorded(*kinds) if kinds else None)
