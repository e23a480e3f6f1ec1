"""The generated code line by line: allocations, reuses, frees, calls."""

from inspect_compile.facts import WrapperLine
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.sheet import Cell, Column, styled
from inspect_compile.tables.text import byte_text, number_of

_COLUMNS = (
    Column("line", right=True),
    Column("what"),
    Column("buffer", cap=0.3),
    Column("bytes", right=True),
    Column("kernel", cap=0.4),
    Column("arguments", flex=True),
)
_SILENT = frozenset({"none", "comment", "assert", "define"})
_STYLES = {"launch": "green", "extern": "green", "allocate": "yellow", "free": "dim"}


def _cells(row: WrapperLine) -> list[Cell]:
    buffer = f"{row.becomes} ← {row.buffer}" if row.becomes is not None else row.buffer or ""
    what = "kept for reuse" if row.what == "free" and row.is_reused else row.what
    return [
        str(row.line or ""),
        styled(what, style=_STYLES.get(row.what, "")),
        buffer,
        byte_text(row.bytes) if row.bytes is not None else "",
        row.kernel or "",
        ", ".join(row.arguments) or row.text,
    ]


wrapper = Listing[WrapperLine](
    "wrapper",
    _COLUMNS,
    lambda dump, graph: [row for row in dump.rows(WrapperLine, graph) if row.what not in _SILENT],
    _cells,
    told=lambda found: f"{number_of(len(found), 'line')} of output_code.py that allocate, call or free",
)
"""Lines that hold memory or compute; --json has the others too."""
