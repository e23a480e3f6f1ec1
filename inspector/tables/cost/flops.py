"""FLOPs: the tree of modules in the form of torch's flop counter, or by module, operator, kernel or source line."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspect_compile.analysis.cost.flop_rows import FlopRow, flop_rows
from inspect_compile.analysis.cost.flops import graph_flops
from inspect_compile.analysis.cost.rollup import Cost, Costs
from inspect_compile.tables.cost import costs
from inspect_compile.tables.cost.flop_rows import COLUMNS, footnotes, uncounted_notes
from inspect_compile.tables.parts import listing
from inspect_compile.tables.styled_text import Stack
from inspect_compile.tables.text import multiple_text, number_of, one_line

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.facts import Graph


def flops(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
    by: str | None = None,
) -> Stack:
    """One tree of modules for each graph, or a table by `by`."""
    if by is None:

        def tree(found: "Graph") -> list[FlopRow]:
            return flop_rows(graph_flops(dump, found.graph))

        return listing(
            dump,
            graph,
            tree,
            COLUMNS,
            name="flops",
            told=lambda found: "",
            names=names,
            limit=limit,
            dump_argument=dump_argument,
            none="nothing that computes",
            below=lambda found, kept: footnotes(graph_flops(dump, found.graph)),
        )

    def rows(found: "Graph") -> list[Cost]:
        return Costs(dump, found.graph).by(by)

    return listing(
        dump,
        graph,
        rows,
        costs.COLUMNS[by],
        name="flops",
        told=lambda found: _told(found, by),
        names=names,
        limit=limit,
        dump_argument=dump_argument,
        asked=("--by", by),
        none="nothing that computes",
        below=lambda found, kept: _not_counted(dump, found.graph, kept, by),
    )


def _told(rows: list[Cost], by: str) -> str:
    if by == "kernel":
        left = sum(bool(row.uncounted) for row in rows)
        counted = multiple_text(sum(row.flops for row in rows), "FLOP")
        return f"{number_of(len(rows), 'launch', 'launches')}, {counted}{f', {left:,} not counted' if left else ''}"
    total = next((row.flops for row in rows), 0) if by == "module" else sum(row.flops for row in rows)
    return multiple_text(total, "FLOP")


def _not_counted(dump: "Dump", graph: str, rows: list[Cost], by: str) -> Iterator[str]:
    """What the totals do not include, one line for each reason."""
    if by != "kernel":
        yield from uncounted_notes(graph_flops(dump, graph))
        return
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.uncounted:
            reasons.setdefault(row.uncounted, []).append(row.name)
    for reason, names in reasons.items():
        yield one_line(f"Not counted, {reason}: {', '.join(dict.fromkeys(names))}")
