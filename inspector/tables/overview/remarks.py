"""What the compiler did, missed or noticed, in words."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from inspect_compile.analysis.overview.remarks import remark_rows
from inspect_compile.facts import Remark
from inspect_compile.graph import CompiledGraph, grouped
from inspect_compile.tables.columns import Cell, Column, cell, place_cell, plain
from inspect_compile.tables.parts import DeclaredTable, Request, limited, title
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, heading, styled
from inspect_compile.tables.text import file_name, number_of, one_line

if TYPE_CHECKING:
    from inspect_compile.dump import Dump


def remark_place(row: Remark) -> Cell:
    """Its line, the user's own first."""
    return place_cell(row.place) if row.place is not None else cell(file_name(row.where or ""))


class Same(NamedTuple):
    """A remark that was made so many times in a graph, in the same words about the same line."""

    remark: Remark
    times: int


def same(rows: Iterable[Remark]) -> list[Same]:
    """Equal remarks as one, in the order of the first of each."""
    groups = grouped(rows, lambda row: (row.kind, row.code, plain(remark_place(row)), row.message, row.knob))
    return [Same(every[0], len(every)) for every in groups.values()]


_ROLES: Final = {"missed": "warn", "passed": "good"}
_COLUMNS: Final[tuple[Column[Remark], ...]] = (
    Column("kind", lambda row: cell(row.kind, _ROLES.get(row.kind, ""))),
    Column("code", lambda row: row.code, stretch=True, least=16, most=32, middle=True),
    Column("where", remark_place, stretch=True, least=14, most=44),
    Column("remark", lambda row: one_line(row.message), stretch=True, least=34, most=100, wraps=True),
    Column("setting", lambda row: row.knob or "", stretch=True, least=40, optional=True, middle=True, drop=1),
)
COLUMNS: Final[tuple[Column[Same], ...]] = (
    *(column.through(lambda row: row.remark) for column in _COLUMNS[:2]),
    Column("times", lambda row: f"{row.times:,}" if row.times > 1 else "", right=True, optional=True, drop=2),
    *(column.through(lambda row: row.remark) for column in _COLUMNS[2:]),
)


def remarks(request: Request) -> Block:
    """One row for each remark, a sheet for each graph, or for a compile that had no graph yet."""
    found = grouped(request.kept(remark_rows(request.graphs)), lambda row: row.graph)
    sheets = [
        limited(COLUMNS, same(rows), request.limit, request.every("remarks"), title=_title(request.dump, name, rows))
        for name, rows in found.items()
    ]
    return Stack(sheets or [styled("no remarks", "dim")])


def _title(dump: "Dump", name: str, rows: list[Remark]) -> StyledLine:
    known, count = dump.graph(name), number_of(len(rows), "remark")
    if known is not None:
        return title(CompiledGraph(dump, known.graph), count)
    return heading(f"before there was a graph, {name}" if name else "the run", count)


TABLE: Final = DeclaredTable(remarks, remark_rows)
