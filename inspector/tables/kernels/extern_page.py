"""The page of an extern kernel: its calls, what each receives, computes and moves, and why it is extern."""

from collections.abc import Iterable, Iterator
from typing import Final

from rich.console import RenderableType

from inspect_compile.analysis.cost.extern_calls import ExternCall
from inspect_compile.tables.cost.flop_rows import count_text
from inspect_compile.tables.cost.moved_text import moved_text
from inspect_compile.tables.parts import more
from inspect_compile.tables.sheet import Cell, Column, Sheet, joined
from inspect_compile.tables.text import lines_text, number_of, one_line, unbroken

_MOST: Final = 100
_LONGEST: Final = 2_000

_COLUMNS: Final = (
    Column("line", right=True),
    Column("operation", cap=0.15, least=100),
    Column("nodes", cap=0.25),
    Column("FLOP", right=True),
    Column("reads", right=True),
    Column("writes", right=True),
    Column("program", cap=0.2),
    Column("call", flex=True, least=90),
)


def extern_lines(rows: list[ExternCall], dump_argument: str) -> Iterator[RenderableType]:
    """Its calls, for below the line with its name."""
    for why, own in _reasons(rows).items():
        of = "" if len(own) == len(rows) else f" ({number_of(len(own), 'call')}: {' '.join(own)})"
        yield joined((one_line(f"  extern because: {why or 'not known'}{of}")[:_LONGEST], "dim"))
    yield Sheet(_COLUMNS, [_cells(row) for row in rows[:_MOST]])
    if len(rows) > _MOST:
        yield more(len(rows) - _MOST, f"{dump_argument} --json")


def _reasons(rows: Iterable[ExternCall]) -> dict[str, list[str]]:
    """Reason for being extern → nodes of the calls that have it."""
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.why, []).append(" ".join(row.nodes) or f"line {row.line}")
    return found


def _cells(row: ExternCall) -> list[Cell]:
    return [
        "?" if row.line is None else str(row.line),
        " ".join(row.operations),
        one_line(" ".join(row.nodes)),
        count_text(row.flops, row.uncounted),
        moved_text(row.read, is_unsure=row.is_read_unsure),
        moved_text(row.written, is_unsure=row.is_written_unsure),
        lines_text(row.lines),
        unbroken(row.text[:_LONGEST]),
    ]
