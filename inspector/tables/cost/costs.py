"""The columns of the tables of costs: FLOPs by operator, module, kernel or source line."""

from typing import Final

from inspect_compile.analysis.cost.rollup import Cost
from inspect_compile.tables.columns import Column
from inspect_compile.tables.cost.flop_rows import count_text
from inspect_compile.tables.cost.origin_text import name_column
from inspect_compile.tables.text import code_text, multiple_text, one_line, place_text, share_text


def _name(row: Cost) -> str:
    if row.by == "line":
        return place_text(row.where) or "(no line)"
    return one_line(row.name) or "Global"


def _count(count: int) -> str:
    return multiple_text(count, "") if count else ""


_FIRST: Final[dict[str, tuple[Column[Cost], ...]]] = {
    "module": (
        name_column("module", _name, least=26),
        Column("class", lambda row: one_line(row.kind), role="dim", drop=5),
    ),
    "op": (
        name_column("operator", _name, least=26),
        Column("nodes", lambda row: f"{len(row.nodes):,}", right=True, drop=5),
    ),
    "kernel": (
        name_column("kernel", _name, least=26),
        Column("line", lambda row: str(row.line or ""), role="dim", right=True, drop=5),
        Column("type", lambda row: one_line(row.kind), role="type", drop=6),
    ),
    "line": (
        name_column("line", _name, least=26),
        Column("code", lambda row: code_text(row.where), stretch=True, least=24, drop=6),
    ),
}
_FIGURES: Final[tuple[Column[Cost], ...]] = (
    Column("FLOP", lambda row: count_text(row.flops, row.uncounted), right=True),
    Column("share", lambda row: share_text(row.share), right=True),
    Column("products", lambda row: _count(row.heavy), right=True, optional=True, drop=4),
    Column("scalar", lambda row: _count(row.scalar), right=True, optional=True, drop=4),
    Column("special", lambda row: _count(row.special), right=True, optional=True, drop=3),
    Column("again", lambda row: _count(row.recomputed), role="warn", right=True, optional=True, drop=2),
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
COLUMNS: Final = {by: (*first, *_FIGURES) for by, first in _FIRST.items()}
"""What costs are summed up by → the columns."""
