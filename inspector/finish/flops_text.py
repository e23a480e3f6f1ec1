"""flops.txt: FLOPs by module and operator, in the form of torch's flop counter."""

from collections.abc import Iterator

from inspect_compile.analysis.cost.flops import graph_flops
from inspect_compile.dump import Dump
from inspect_compile.tables.cost.flop_rows import footnotes, table_rows
from inspect_compile.tables.text import clean, flop_suffix, flop_text

_COUNTED = "How FLOPs are counted: docs/flops.md of inspect-compile."


def flops_text(dump: Dump, graph: str) -> str:
    """The whole text for one outermost graph."""
    return clean("\n".join([graph, "", *flops_table(dump, graph), "", _COUNTED]) + "\n")


def flops_table(dump: Dump, graph: str, *, depth: int | None = None) -> Iterator[str]:
    """The table, followed by what has no count and what is free; modules deeper than `depth` are left out."""
    found = graph_flops(dump, graph)
    suffix = flop_suffix(found.total)
    cells = [("Module", "FLOP", "% Total")]
    for label, count, part in table_rows(found, depth):
        cells.append((label, flop_text(count, suffix), f"{part:.2%}"))
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    for index, (name, flops, share) in enumerate(cells):
        yield f"{name:<{widths[0]}}  {flops:>{widths[1]}}  {share:>{widths[2]}}"
        if index == 0:
            yield "  ".join("-" * width for width in widths)
    yield from footnotes(found)
