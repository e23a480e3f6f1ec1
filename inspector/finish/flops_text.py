"""flops.txt: FLOPs by module and operator, in the form of torch's flop counter."""

from collections.abc import Iterator

from inspect_compile.analysis.cost.flop_rows import flop_rows
from inspect_compile.analysis.cost.flops import graph_flops
from inspect_compile.dump import Dump
from inspect_compile.tables.columns import text_lines
from inspect_compile.tables.cost.flops import COLUMNS, footnotes
from inspect_compile.tables.text import clean

_COUNTED = "How FLOPs are counted: docs/flops.md of inspect-compile."


def flops_text(dump: Dump, graph: str) -> str:
    """The whole text for one outermost graph."""
    return clean("\n".join([graph, "", *flops_table(dump, graph), "", _COUNTED]) + "\n")


def flops_table(dump: Dump, graph: str, *, depth: int | None = None) -> Iterator[str]:
    """The table, followed by what has no count and what is free; modules deeper than `depth` are left out."""
    found = graph_flops(dump, graph)
    yield from text_lines(COLUMNS, [row for row in flop_rows(found) if depth is None or row.depth <= depth], rule=True)
    yield from footnotes(found)
