"""The generated code line by line: allocations, reuses, frees, calls."""

from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.facts import Graph, WrapperLine
from inspect_compile.tables.parts import listing
from inspect_compile.tables.sheet import Cell, Column, styled
from inspect_compile.tables.text import byte_text, number_of

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

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


def wrapper(
    dump: "Dump", graph: str | None = None, *, names: tuple[str, ...] = (), limit: int | None = None, said: str = ""
) -> RenderableType:
    """Every line that holds memory or computes; --json has the others too."""

    def rows(found: Graph) -> list[WrapperLine]:
        return [row for row in dump.rows(WrapperLine, found.graph) if row.what not in _SILENT]

    return listing(
        dump,
        graph,
        rows,
        _cells,
        _COLUMNS,
        name="wrapper",
        told=lambda found: f"{number_of(len(found), 'line')} of output_code.py that allocate, call or free",
        names=names,
        limit=limit,
        said=said,
    )


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
