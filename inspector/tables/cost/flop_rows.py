"""The rows of a FLOP table, for flops.txt and for the terminal."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.cost.flops import GraphFlops, Module
from inspect_compile.tables.text import multiple_text, one_line

UNCOUNTED: Final = {
    "own": "Triton kernels of yours (--by kernel counts those whose TTIR is recorded)",
    "other": "no rule covers them",
    "unknown": "a size is not known",
    "inner": "inside of attention, for each of its scores",
}
"""Why operators have no count: `GraphFlops.uncounted` → text."""


def count_text(count: int, uncounted: str) -> str:
    """`2 M`, with a note if not everything is counted."""
    known = multiple_text(count, "")
    return known if not uncounted else f"{known} +" if count else "not counted"


def table_rows(found: GraphFlops, depth: int | None = None) -> Iterator[tuple[str, int, float]]:
    """(name, FLOPs, share) of each row: a module, then ` - operator` for each operator in it, then its submodules."""
    yield from _module(found.root, 0, found.total, depth)


def _module(module: Module, depth: int, total: int, deepest: int | None) -> Iterator[tuple[str, int, float]]:
    name = module.name
    while len(module.children) == 1 and module.path and module.operators == module.children[0].operators:
        module = module.children[0]  # a container with a single module in it: one row for both
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
    if found.sizes:
        yield one_line(f"0 FLOP, they compute sizes and other numbers on the host: {_counts(found.sizes)}")
    yield from uncounted_notes(found)


def uncounted_notes(found: GraphFlops) -> Iterator[str]:
    """What has no count."""
    for reason, words in UNCOUNTED.items():
        if reason in found.uncounted:
            yield one_line(f"Not counted, {words}: {_counts(found.uncounted[reason])}")


def _counts(operators: dict[str, int]) -> str:
    return ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in operators.items())
