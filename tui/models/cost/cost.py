"""What a graph costs: the modes of the view, each with its own table."""

from collections.abc import Callable
from functools import partial
from typing import Final

from inspect_compile.analysis.cost.rollup import Cost, Costs
from inspect_compile.analysis.provenance.chain import Line
from inspect_compile.dump import Dump
from inspect_compile.tables.columns import cell
from inspect_compile.tables.cost.flop_rows import count_text
from inspect_compile.tables.text import multiple_text, one_line, place_text, share_text
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.cost.flops import bar, flops
from inspect_compile.tui.models.cost.traffic import roofline, traffic
from inspect_compile.tui.models.sheet import Column, Row, Subject, Table

_TITLES: Final = {"op": "operator", "kernel": "kernel", "line": "line"}
_COLUMNS: Final = (
    Column("FLOP", right=True),
    Column("share", right=True),
    Column("", most=20, drop=1),
    Column("special", right=True, drop=3),
    Column("again", right=True, drop=2),
    Column("by the sizes", drop=4, most=30),
)


def costs(by: str, dump: Dump, chain: Chain) -> Table:
    """One row for each operator, line or launch, as from `Costs.by`."""
    positions = {
        (chain.key(kernel.graph, kernel.name), line): position
        for position, kernel in enumerate(chain.kernels)
        for line in kernel.launches or (None,)
    }
    first = Column(_TITLES[by], stretch=True, least=16, most=70, middle=by == "kernel")
    rows = []
    for cost in Costs(dump, chain.graph).by(by):
        name = place_text(cost.where) or "(no line)" if by == "line" else one_line(cost.name)
        cells = (
            cell(name, "" if cost.heavy else "name"),
            cell(count_text(cost.flops, cost.uncounted), "dim" if cost.uncounted else ""),
            cell(share_text(cost.share), "dim"),
            cell(bar(cost.share), "bar"),
            cell(multiple_text(cost.special, "") if cost.special else "", "dim"),
            cell(multiple_text(cost.recomputed, "") if cost.recomputed else "", "warn"),
            cell(one_line(cost.expression), "dim"),
        )
        rows.append(Row(f"{by} {cost.name} {cost.line}", cells, _subject(cost, chain, positions)))
    return Table((first, *_COLUMNS), rows)


def _subject(cost: Cost, chain: Chain, positions: dict[tuple[str, int | None], int]) -> Subject | None:
    if cost.by == "kernel":
        position = positions.get((cost.name, cost.line))
        return None if position is None else chain.of_launch(position, cost.line)
    if cost.where is not None:
        return chain.of_line(Line.of(cost.where))
    return Subject("node", cost.nodes, cost.name or "no line") if cost.nodes else None


PARTS: Final[dict[str, Callable[[Dump, Chain], Table]]] = {
    "modules": flops,
    "operators": partial(costs, "op"),
    "kernels": partial(costs, "kernel"),
    "lines": partial(costs, "line"),
    "bytes": traffic,
    "roofline": roofline,
}
"""Mode of the view → its table."""
