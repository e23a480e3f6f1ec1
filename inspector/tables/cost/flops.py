"""FLOPs by module and operator, in the form of torch's flop counter."""

from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.cost.flops import graph_flops
from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.dumps.nothing import nothing_text
from inspect_compile.tables.cost.costs import costs
from inspect_compile.tables.cost.flop_rows import footnotes, table_rows
from inspect_compile.tables.parts import command, more, title
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, styled
from inspect_compile.tables.text import flop_suffix, flop_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (Column("Module", cap=0.7), Column("FLOP", right=True), Column("% Total", right=True))


def flops(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
    by: str = "module",
) -> RenderableType:
    """One tree of modules for each graph, or a table by `by`; `names` are modules or operators."""
    if by != "module":
        return costs(dump, graph, by, names=names, limit=limit, dump_argument=dump_argument)
    sheets = []
    for graph_fact in graphs_of(dump, graph):
        found = graph_flops(dump, graph_fact.graph)
        suffix = flop_suffix(found.total)
        rows = [row for row in table_rows(found) if not names or all(name in row[0] for name in names)]
        shown = rows if limit is None else rows[:limit]
        cells = [[name, flop_text(count, suffix), f"{share:.2%}"] for name, count, share in shown]
        notes: list[Cell] = [styled(note, style="dim") for note in footnotes(found)]
        if len(rows) > len(shown):
            which = ("--graph", graph_fact.graph) if graph is not None else ()
            notes.insert(0, more(len(rows) - len(shown), command(dump_argument, "flops", *names, *which, "--all")))
        sheets.append(Sheet(_COLUMNS, cells, title=title(graph_fact), notes=notes))
    return Stack(sheets or [styled(nothing_text(dump), style="dim")])
