"""The kernels: what each computes and moves, and the source lines it comes from."""

from collections.abc import Sequence
from typing import Final

from inspect_compile.analysis.cost.kernel_rows import KernelRow, kernel_rows
from inspect_compile.facts import Kernel
from inspect_compile.tables.columns import Column, lines_cell
from inspect_compile.tables.cost.cost_text import moved_text, name_column
from inspect_compile.tables.kernels.binaries import occupancy_text, registers_text
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.text import byte_text, nested_name, number_of

COLUMNS: Final[tuple[Column[KernelRow], ...]] = (
    name_column("kernel", lambda row: nested_name(row.graph, row.name), least=30),
    Column("form", lambda row: row.form, role="type", drop=3),
    Column("calls", lambda row: f"{len(row.launches):,}" if row.launches else "?", right=True, drop=2),
    Column("reads", lambda row: moved_text(row.read, is_unsure=row.is_read_unsure), right=True),
    Column("writes", lambda row: moved_text(row.written, is_unsure=row.is_written_unsure), right=True),
    Column("lines", lambda row: lines_cell(row.lines), stretch=True, least=11, most=40, drop=1),
    Column("operations", lambda row: " ".join(row.operations), stretch=True, least=16, most=30, drop=5),
    Column("registers", lambda row: registers_text(row) if row.is_compiled else "", right=True, optional=True, drop=4),
    Column("spills", lambda row: byte_text(row.spills) if row.is_compiled else "", right=True, optional=True, drop=4),
    Column("occupancy", lambda row: occupancy_text(row) if row.is_compiled else "", optional=True, drop=4),
    Column("nodes", lambda row: " ".join(row.nodes), role="dim", stretch=True, least=16, drop=6),
)

_IN_LOG: Final[Column[KernelRow]] = Column(
    "in the log", lambda row: row.in_log, role="name", stretch=True, least=20, optional=True, drop=3
)


def _calls(found: Sequence[KernelRow]) -> str:
    count = sum(len(row.launches) for row in found)
    return number_of(count, "call") if count or not found else "calls not known"


TABLE: Final = Listing[KernelRow](
    "kernels",
    (COLUMNS[0], _IN_LOG, *COLUMNS[1:]),
    kernel_rows,
    summary=lambda found: f"{number_of(len(found), 'kernel')}, {_calls(found)}",
    none="no kernel was generated",
).table(Kernel)
"""One row for each kernel, in the order of the first calls."""
