"""flops.txt: FLOPs by module and operator, in the form of torch's flop counter."""

from collections.abc import Iterator

from inspect_compile.analysis.flops import GraphFlops, Module, graph_flops
from inspect_compile.dump import Dump
from inspect_compile.tables.text import clean, flop_suffix, flop_text, one_line

_COUNTED = "How FLOPs are counted: docs/flops.md of inspect-compile."


def flops_text(dump: Dump, graph: str) -> str:
    """The whole text for one outermost graph."""
    return "\n".join([graph, "", *flops_table(dump, graph), "", _COUNTED]) + "\n"


def flops_table(dump: Dump, graph: str, *, depth: int | None = None) -> Iterator[str]:
    """The table, and below it what has no count and what is free; modules deeper than `depth` are left out."""
    found = graph_flops(dump, graph)
    suffix = flop_suffix(found.total)
    cells = [("Module", "FLOP", "% Total")]
    for label, count, part in table_rows(found, depth):
        cells.append((clean(label), flop_text(count, suffix), f"{part:.2%}"))
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    for index, (name, flops, share) in enumerate(cells):
        yield f"{name:<{widths[0]}}  {flops:>{widths[1]}}  {share:>{widths[2]}}"
        if index == 0:
            yield "  ".join("-" * width for width in widths)
    yield from footnotes(found)


def table_rows(found: GraphFlops, depth: int | None = None) -> Iterator[tuple[str, int, float]]:
    """(name, FLOPs, share) of each row: a module, below it ` - operator` for what ran in it, then its own modules."""
    yield from _module(found.root, 0, found.total, depth)


def _module(module: Module, depth: int, total: int, deepest: int | None) -> Iterator[tuple[str, int, float]]:
    name = module.name
    while len(module.children) == 1 and module.path and module.operators == module.children[0].operators:
        module = module.children[0]  # a container with one module in it: one row for both
        name = f"{name}.{module.name}"
    indent = " " * depth
    label = f"{name} ({module.type})" if module.type else name
    yield f"{indent}{label}", module.flops, module.flops / total if total else 0.0
    for operator, flops in module.operators.items():
        yield f"{indent} - {operator}", flops, flops / total if total else 0.0
    for child in module.children if deepest is None or depth < deepest else ():
        yield from _module(child, depth + 1, total, deepest)


def footnotes(found: GraphFlops) -> Iterator[str]:
    """What the table leaves out."""
    if found.free:
        yield one_line(f"0 FLOP, they compute nothing: {_counts(found.free)}")
    for reason, words in (("other", "no rule covers them"), ("unknown", "a size is not known")):
        if reason in found.uncounted:
            yield one_line(f"Not counted, {words}: {_counts(found.uncounted[reason])}")


def _counts(operators: dict[str, int]) -> str:
    return ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in operators.items())
