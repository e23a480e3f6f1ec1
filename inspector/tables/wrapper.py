"""The generated code line by line: allocations, reuses, frees, calls."""

from typing import Final

from inspect_compile.facts import MemoryPlan, WrapperLine
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.parts import DeclaredTable, Listing, recorded
from inspect_compile.tables.text import byte_text, number_of

_SILENT: Final = frozenset({"none", "comment", "assert", "define"})
_ROLES: Final = {"launch": "good", "extern": "good", "allocate": "warn", "free": "dim"}


def _what(row: WrapperLine) -> Cell:
    return cell("kept for reuse" if row.what == "free" and row.is_reused else row.what, _ROLES.get(row.what, ""))


COLUMNS: Final[tuple[Column[WrapperLine], ...]] = (
    Column("line", lambda row: str(row.line or ""), right=True),
    Column("what", _what),
    Column(
        "buffer",
        lambda row: f"{row.becomes} ← {row.buffer}" if row.becomes is not None else row.buffer or "",
        role="name",
        stretch=True,
        least=10,
        most=40,
        middle=True,
    ),
    Column("bytes", lambda row: byte_text(row.bytes) if row.bytes is not None else "", right=True),
    Column("kernel", lambda row: row.kernel or "", stretch=True, least=20, most=60, middle=True),
    Column("arguments", lambda row: ", ".join(row.arguments) or row.text, stretch=True, least=12, drop=1),
)


def wrapper_lines(graph: "CompiledGraph") -> list[WrapperLine]:
    """The lines that hold memory or compute."""
    return [row for row in graph.rows(WrapperLine) if row.what not in _SILENT]


TABLE: Final = DeclaredTable(
    Listing[WrapperLine](
        "wrapper",
        COLUMNS,
        wrapper_lines,
        summary=lambda found: f"{number_of(len(found), 'line')} of output_code.py that allocate, call or free",
    ),
    recorded(WrapperLine, MemoryPlan),
)
"""Lines that hold memory or compute; --json has the others too."""
