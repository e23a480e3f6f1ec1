"""The scheduler nodes after fusion, in the order of the generated code; their columns, for every table of them."""

from dataclasses import replace
from typing import Final, NamedTuple

from inspect_compile.analysis.cost.schedule_rows import ScheduleRow, schedule_rows
from inspect_compile.facts import Operation
from inspect_compile.tables.columns import Cell, Column, cell, lines_cell
from inspect_compile.tables.cost.cost_text import moved_text
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.text import number_of


def _kind(row: ScheduleRow) -> Cell:
    """pointwise, reduction, …; for an extern kernel its function, `aten.cumsum`."""
    function = row.extern_kernel.removeprefix("torch.ops.").removeprefix("extern_kernels.").removesuffix(".default")
    return cell(function or row.kind, "type" if len(row.members) > 1 else "dim")


def _name(row: ScheduleRow) -> Cell:
    return cell(row.name, "name" if len(row.members) > 1 else "")


class _Columns(NamedTuple):
    operation: Column[ScheduleRow] = Column("operation", _name, stretch=True, least=16, most=60)
    kind: Column[ScheduleRow] = Column("kind", _kind, stretch=True, least=9, most=30)
    members: Column[ScheduleRow] = Column("operations", lambda row: f"{len(row.members):,}", right=True, drop=5)
    elements: Column[ScheduleRow] = Column(
        "elements",
        lambda row: row.numel if row.rnumel in ("", "1") else f"{row.numel} × {row.rnumel}",
        right=True,
        drop=3,
    )
    reads: Column[ScheduleRow] = Column(
        "reads", lambda row: moved_text(row.read, is_unsure=row.is_read_unsure) if row.is_counted else "", right=True
    )
    writes: Column[ScheduleRow] = Column(
        "writes",
        lambda row: moved_text(row.written, is_unsure=row.is_written_unsure) if row.is_counted else "",
        right=True,
    )
    lines: Column[ScheduleRow] = Column(
        "lines", lambda row: lines_cell(row.lines), stretch=True, least=11, most=44, drop=4
    )
    kernel: Column[ScheduleRow] = Column(
        "kernel", lambda row: row.kernel, stretch=True, least=16, most=60, middle=True, drop=6
    )
    waits_for: Column[ScheduleRow] = Column(
        "waits for", lambda row: " ".join(row.predecessors), stretch=True, least=9, most=30, drop=2
    )
    used_by: Column[ScheduleRow] = Column(
        "used by", lambda row: " ".join(row.users), stretch=True, least=9, most=30, drop=1
    )
    nodes: Column[ScheduleRow] = Column("nodes", lambda row: " ".join(row.nodes), role="dim", stretch=True, least=12)


COLUMNS: Final = _Columns()
GROUPS: Final = (
    COLUMNS.operation,
    COLUMNS.kind,
    COLUMNS.members,
    COLUMNS.lines,
    COLUMNS.kernel,
    replace(COLUMNS.nodes, drop=7),
)
"""What fusion made of the operations, without what it moves and waits for."""


def _summary(found: list[ScheduleRow]) -> str:
    when = "before" if any(row.phase == "pre_fusion" for row in found) else "after"
    return f"{number_of(len(found), 'scheduler node')} {when} fusion"


TABLE: Final = Listing[ScheduleRow]("schedule", COLUMNS, schedule_rows, summary=_summary).table(Operation)
"""One row for each scheduler node; --facts also has those before fusion."""
