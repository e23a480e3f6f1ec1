"""What a graph costs: the modes of the view, each with its own table."""

from collections.abc import Callable
from functools import partial
from typing import Final

from inspect_compile.analysis.cost.rollup import Cost, Costs
from inspect_compile.analysis.provenance.chain import Line
from inspect_compile.dump import Dump
from inspect_compile.tables.columns import used
from inspect_compile.tables.cost.flops import SUMS
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.cost.bars import with_bar
from inspect_compile.tui.models.cost.flops import flops
from inspect_compile.tui.models.cost.traffic import launch_positions, roofline, traffic
from inspect_compile.tui.models.sheet import Subject, Table


def costs(by: str, dump: Dump, chain: Chain) -> Table:
    """One row for each operator, line or launch, as from `Costs.by`."""
    rows = Costs(dump, chain.graph).by(by)
    columns = used(with_bar(SUMS[by], lambda row: row.share), rows)
    positions = launch_positions(chain)
    keys = [f"{by} {row.name} {row.line}" for row in rows]
    return Table.of(columns, rows, keys, [_subject(row, chain, positions) for row in rows])


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
