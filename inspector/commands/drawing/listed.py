"""`draw --list`: what can be drawn of a dump, graph by graph."""

from typing import TYPE_CHECKING

from inspect_compile.commands.streams import say
from inspect_compile.diagrams.kinds.every import KINDS

if TYPE_CHECKING:
    from inspect_compile.dump import Dump


def print_drawings(dump: "Dump") -> None:
    """A line for each drawing: its size, or why there is none. Of a run of ranks, those of all ranks together."""
    from inspect_compile.analysis.dumps.parts import is_only_parts
    from inspect_compile.graph import Graphs
    from inspect_compile.tables.text import columns, one_line

    rows: list[tuple[str, ...]] = [("graph", "draw", "what there is")]
    for kind in KINDS.values():
        if kind.is_of_run and (kind.is_of_ranks or not is_only_parts(dump)):
            rows += [("all", *row) for row in kind.listed(Graphs(dump))]
    for graph in Graphs(dump):
        for kind in KINDS.values():
            if not kind.is_of_run:
                rows += [(one_line(graph.name), *row) for row in kind.listed(graph)]
    say("\n".join(columns(rows)))
