"""FLOPs: the tree of modules in the form of torch's flop counter, or by module, operator, kernel or source line."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.cost.flop_rows import FlopRow, flop_rows
from inspect_compile.analysis.cost.flops import GraphFlops, graph_flops
from inspect_compile.analysis.cost.rollup import Cost, Costs
from inspect_compile.facts import Lowering
from inspect_compile.graph import CompiledGraph, Graphs, gathered
from inspect_compile.tables.columns import Cell, Column, cell, place_cell
from inspect_compile.tables.cost.cost_text import count_text, name_column
from inspect_compile.tables.parts import DeclaredTable, Listing, Request, recorded
from inspect_compile.tables.styled_text import Stack
from inspect_compile.tables.text import (
    code_text,
    flop_suffix,
    flop_text,
    multiple_text,
    number_of,
    one_line,
    share_text,
)

UNCOUNTED: Final = {
    "own": "your Triton kernels (--by kernel counts those whose TTIR is recorded)",
    "other": "no rule covers them",
    "unknown": "a size is not known",
    "inner": "inside attention, for each score",
}
"""Why operators have no count: `GraphFlops.uncounted` → text."""


def label(row: FlopRow) -> str:
    """The row's place in the tree: ` conv (Conv2d)`, `  - aten.convolution`."""
    name = f" - {row.name}" if row.is_operator else f"{row.name} ({row.type})" if row.type else row.name
    return f"{' ' * row.depth}{name}"


def _label(row: FlopRow) -> Cell:
    return cell(label(row), "" if row.is_operator else "name")


_MODULE: Final[Column[FlopRow]] = Column("Module", _label, stretch=True, least=20, most=100, middle=True)
COLUMNS: Final[tuple[Column[FlopRow], ...]] = (
    _MODULE,
    Column("FLOP", lambda row: flop_text(row.flops, flop_suffix(row.total)), right=True),
    Column("% Total", lambda row: f"{row.share:.2%}", right=True),
)
"""In the form of torch's flop counter: an operator counts in every module that it is in."""


def app_flops(row: FlopRow) -> int:
    """What the app counts for a row: of an operator what ran in the module itself, so that these rows add up."""
    return row.own if row.is_operator else row.flops


def app_share(row: FlopRow) -> float:
    """The same as a share of the graph's FLOPs."""
    return app_flops(row) / row.total if row.total else 0.0


APP_COLUMNS: Final[tuple[Column[FlopRow], ...]] = (
    _MODULE,
    Column("FLOP", lambda row: multiple_text(app_flops(row), ""), right=True),
    Column("share", lambda row: share_text(app_share(row)), role="dim", right=True),
)


def _sum_name(row: Cost) -> str:
    return one_line(row.name) or "Global"


def _count(count: int) -> str:
    return multiple_text(count, "") if count else ""


_FIRST: Final[dict[str, tuple[Column[Cost], ...]]] = {
    "module": (
        name_column("module", _sum_name, least=26),
        Column("class", lambda row: one_line(row.kind), role="dim", drop=5),
    ),
    "op": (
        name_column("operator", _sum_name, least=26),
        Column("nodes", lambda row: f"{len(row.nodes):,}", right=True, drop=5),
    ),
    "kernel": (
        name_column("kernel", _sum_name, least=26),
        Column("line", lambda row: str(row.line or ""), role="dim", right=True, drop=5),
        Column("type", lambda row: one_line(row.kind), role="type", drop=6),
    ),
    "line": (
        Column("line", lambda row: place_cell(row.where) or cell("(no line)"), stretch=True, least=20, most=60),
        Column("code", lambda row: code_text(row.where), stretch=True, least=24, drop=6),
    ),
}
_FIGURES: Final[tuple[Column[Cost], ...]] = (
    Column("FLOP", lambda row: count_text(row.flops, row.uncounted), right=True),
    Column("share", lambda row: share_text(row.share), right=True),
    Column("products", lambda row: _count(row.heavy), right=True, optional=True, drop=4),
    Column("scalar", lambda row: _count(row.scalar), right=True, optional=True, drop=4),
    Column("transcendental", lambda row: _count(row.transcendental), right=True, optional=True, drop=3),
    Column("recomputed", lambda row: _count(row.recomputed), role="warn", right=True, optional=True, drop=2),
    Column(
        "expression",
        lambda row: one_line(row.expression),
        role="dim",
        stretch=True,
        least=16,
        most=60,
        optional=True,
        drop=7,
    ),
)
SUMS: Final = {by: (*first, *_FIGURES) for by, first in _FIRST.items()}
"""What costs are summed up by → the columns."""

_TREE: Final = Listing[FlopRow](
    "flops",
    COLUMNS,
    lambda graph: flop_rows(graph_flops(graph)),
    none="nothing that computes",
    below=lambda graph, rows: footnotes(graph_flops(graph)),
)


def flops(request: Request, *, by: str | None = None) -> Stack:
    """One tree of modules for each graph, or a table by `by`."""
    if by is None:
        return _TREE(request)
    return Listing[Cost](
        "flops",
        SUMS[by],
        lambda graph: Costs(graph).by(by),
        summary=lambda found: _summary(found, by),
        none="nothing that computes",
        options=("--by", by),
        below=lambda graph, rows: _not_counted(graph, rows, by),
    )(request)


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


def _summary(rows: list[Cost], by: str) -> str:
    if by == "kernel":
        left = sum(bool(row.uncounted) for row in rows)
        counted = multiple_text(sum(row.flops for row in rows), "FLOP")
        return f"{number_of(len(rows), 'launch', 'launches')}, {counted}{f', {left:,} not counted' if left else ''}"
    total = next((row.flops for row in rows), 0) if by == "module" else sum(row.flops for row in rows)
    return multiple_text(total, "FLOP")


def _not_counted(graph: "CompiledGraph", rows: list[Cost], by: str) -> Iterator[str]:
    """What the totals do not include, one line for each reason."""
    if by != "kernel":
        yield from uncounted_notes(graph_flops(graph))
        return
    reasons = gathered((row.uncounted, row.name) for row in rows if row.uncounted)
    for reason, names in reasons.items():
        yield one_line(f"Not counted, {reason}: {', '.join(dict.fromkeys(names))}")


def _rows(graphs: Graphs, by: str | None = None) -> Iterator[FlopRow | Cost]:
    for graph in graphs:
        yield from (flop_rows(graph_flops(graph)) if by is None else Costs(graph).by(by))


TABLE: Final = DeclaredTable(flops, _rows, recorded(Lowering))
