"""FLOPs of a graph by operator, kernel or source line; for modules see `tables.cost.flops`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.cost.flops import graph_flops
from inspect_compile.analysis.cost.rollup import Cost, Costs
from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.tables.cost.flop_rows import count_text, uncounted_notes
from inspect_compile.tables.parts import listing
from inspect_compile.tables.sheet import Cell, Column, Stack
from inspect_compile.tables.text import multiple_text, number_of, one_line, place_text, share_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.facts import Graph

_FIRST: Final = {
    "module": (Column("module", cap=0.5), Column("class", least=100)),
    "op": (Column("operator", cap=0.5), Column("nodes", right=True)),
    "kernel": (Column("kernel", cap=0.42), Column("line", right=True, least=90), Column("type", least=100)),
    "line": (Column("line", cap=0.3), Column("code", flex=True, least=100)),
}
_COLUMNS: Final = (
    Column("FLOP", right=True),
    Column("% total", right=True),
    Column("products", right=True, least=90),
    Column("scalar", right=True, least=90),
    Column("special", right=True, least=100),
    Column("again", right=True),
    Column("expression", flex=True, least=130),
)


def costs(
    dump: "Dump",
    graph: str | None,
    by: str,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> Stack:
    """One row for each value of `by`; columns that are empty throughout are left out."""
    rows = {found.graph: Costs(dump, found.graph).by(by) for found in graphs_of(dump, graph)}
    everything = [row for found in rows.values() for row in found]
    columns = (*_FIRST[by], *_COLUMNS)
    says = [
        index < len(_FIRST[by]) + 2 or any(_cells(row, by)[index] for row in everything)
        for index in range(len(columns))
    ]

    def own(found: "Graph") -> list[Cost]:
        return rows[found.graph]

    def cells(row: Cost) -> Sequence[Cell]:
        return [cell for cell, is_shown in zip(_cells(row, by), says, strict=True) if is_shown]

    return listing(
        dump,
        graph,
        own,
        cells,
        [column for column, is_shown in zip(columns, says, strict=True) if is_shown],
        name="flops",
        told=lambda found: _told(found, by),
        names=names,
        limit=limit,
        dump_argument=dump_argument,
        asked=("--by", by),
        none="nothing that computes",
        below=lambda found, kept: not_counted(dump, found.graph, kept, by),
    )


def not_counted(dump: "Dump", graph: str, rows: list[Cost], by: str) -> Iterator[str]:
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


def _told(rows: list[Cost], by: str) -> str:
    if by == "kernel":
        left = sum(bool(row.uncounted) for row in rows)
        counted = multiple_text(sum(row.flops for row in rows), "FLOP")
        return f"{number_of(len(rows), 'launch', 'launches')}, {counted}{f', {left:,} not counted' if left else ''}"
    total = next((row.flops for row in rows), 0) if by == "module" else sum(row.flops for row in rows)
    return multiple_text(total, "FLOP")


def _cells(row: Cost, by: str) -> list[Cell]:
    match by:
        case "module":
            first = [one_line(row.name) or "Global", one_line(row.kind)]
        case "op":
            first = [one_line(row.name), str(len(row.nodes))]
        case "kernel":
            first = [one_line(row.name), "" if row.line is None else str(row.line), one_line(row.kind)]
        case _:
            code = "" if row.where is None else one_line(row.where.code)
            first = [place_text(row.where) or "(no line)", code]
    counts = (row.heavy, row.scalar, row.special, row.recomputed)
    return [
        *first,
        count_text(row.flops, row.uncounted),
        share_text(row.share),
        *(multiple_text(count, "") if count else "" for count in counts),
        one_line(row.expression),
    ]
