"""The page of an extern kernel: its calls, what each receives, computes and moves, and why it is extern."""

from collections.abc import Iterable, Iterator
from typing import Final

from rich.console import RenderableType

from inspect_compile.analysis.cost.extern_calls import ExternCall
from inspect_compile.tables.columns import Column
from inspect_compile.tables.cost.cost_text import count_text, moved_text
from inspect_compile.tables.parts import command, limited
from inspect_compile.tables.styled_text import joined
from inspect_compile.tables.text import lines_text, number_of, one_line, unbroken

_MOST: Final = 100
_LONGEST: Final = 2_000

_COLUMNS: Final[tuple[Column[ExternCall], ...]] = (
    Column("line", lambda row: "?" if row.line is None else str(row.line), right=True),
    Column("operations", lambda row: " ".join(row.operations), stretch=True, least=10, most=24, drop=2),
    Column("nodes", lambda row: one_line(" ".join(row.nodes)), role="name", stretch=True, least=12, most=40),
    Column("FLOP", lambda row: count_text(row.flops, row.uncounted), right=True),
    Column("reads", lambda row: moved_text(row.read, is_unsure=row.is_read_unsure), right=True),
    Column("writes", lambda row: moved_text(row.written, is_unsure=row.is_written_unsure), right=True),
    Column("program", lambda row: lines_text(row.lines), role="dim", stretch=True, least=11, most=32),
    Column("call", lambda row: unbroken(row.text[:_LONGEST]), stretch=True, least=20, most=200, drop=1),
)


def extern_lines(rows: list[ExternCall], dump_argument: str) -> Iterator[RenderableType]:
    """Its calls, for below the line with its name."""
    for why, own in _reasons(rows).items():
        of = "" if len(own) == len(rows) else f" ({number_of(len(own), 'call')}: {' '.join(own)})"
        yield joined((one_line(f"  extern because: {why or 'not known'}{of}")[:_LONGEST], "dim"))
    yield limited(_COLUMNS, rows, _MOST, f"{command(dump_argument, 'kernel', rows[0].kernel)} --json")


def _reasons(rows: Iterable[ExternCall]) -> dict[str, list[str]]:
    """Reason for being extern → nodes of the calls that have it."""
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row.why, []).append(" ".join(row.nodes) or f"line {row.line}")
    return found
