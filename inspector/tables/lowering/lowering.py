"""How each node was lowered to IR, and what became of its value."""

from typing import Final

from inspect_compile.analysis.lowering.ir_text import brief
from inspect_compile.analysis.lowering.rows import INLINED, LoweringRow, lowering_rows
from inspect_compile.facts import Lowering
from inspect_compile.tables.columns import Cell, Column, Span, cell
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.text import nested_name, number_of, one_line, seconds_text

_QUIET: Final = frozenset({"placeholder", "output", "getitem"})
_ROLES: Final = {"fallback": "warn", "lowering": "good", "failed": "bad"}


def _name(row: LoweringRow) -> Cell:
    return cell(nested_name(row.graph, row.node), "dim" if row.way in _QUIET else "name")


def _target(row: LoweringRow) -> str:
    return row.target if row.op == "call_function" else row.op


def _way(row: LoweringRow) -> Cell:
    way = "failed" if row.error is not None else row.way
    return cell(way, _ROLES.get(way, "dim"))


def _value(row: LoweringRow) -> Cell:
    if row.error is not None:
        return cell(one_line(row.error.partition("\n")[0]), "bad")
    if row.value == INLINED:
        where = "in its users"
        if row.inlined_in is not None:
            where = f"in {number_of(row.inlined_in, 'operation')}" if row.inlined_in else "and nothing needs it"
        return Span("inlined ", "good"), Span(where, "dim")
    asked_by = f" (for {row.realized_for})" if row.realized_for else ""
    return (Span("realized ", "accent"), Span(f"{row.reason or 'made as a buffer'}{asked_by}")) if row.value else ()


def _made(row: LoweringRow) -> str:
    return " ".join((*row.buffers, *row.operations))


def _ir(row: LoweringRow) -> Cell:
    if row.error is not None:
        return cell(one_line(row.error), "bad")
    if row.same_as is not None:
        return cell(f"%{row.same_as} itself", "dim")
    shown = brief(row.result).replace("TensorBox(StorageBox(", "").removesuffix("))") if row.op != "output" else ""
    return cell(shown)


TARGET: Final[Column[LoweringRow]] = Column("target", _target, role="dim", stretch=True, least=16, most=40)
VALUE: Final[Column[LoweringRow]] = Column("value", _value, stretch=True, least=24, most=90, drop=1, optional=True)
COLUMNS: Final[tuple[Column[LoweringRow], ...]] = (
    Column("node", _name, stretch=True, least=12, most=40, middle=True),
    TARGET,
    Column("how", _way, most=14),
    Column("made", _made, role="accent", stretch=True, least=8, most=24),
    VALUE,
    Column("FLOP", lambda row: f"{row.flops:,}" if row.flops else "", role="dim", right=True, drop=2, optional=True),
    Column("by", lambda row: row.via.partition(" ")[0], role="dim", most=30, drop=4, optional=True),
    Column("time", lambda row: seconds_text(row.seconds), role="dim", right=True, drop=3),
    Column("IR", _ir, stretch=True, least=20, most=200),
)

TABLE: Final = Listing[LoweringRow](
    "lowering",
    COLUMNS,
    lowering_rows,
    summary=lambda found: f"{number_of(len(found), 'node')} lowered; details in lowering.txt",
).table(Lowering)
"""The steps in the order in which they ended; lowering.txt of the dump has each in full."""
