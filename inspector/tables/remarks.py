"""What the compiler did, missed or noticed, in words."""

from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.about import concerns
from inspect_compile.facts import Remark
from inspect_compile.tables.parts import command, more
from inspect_compile.tables.row_sources import ROWS
from inspect_compile.tables.sheet import Cell, Column, Sheet, styled
from inspect_compile.tables.text import file_name, one_line

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column("graph", cap=0.25, least=100),
    Column("kind"),
    Column("code", cap=0.25),
    Column("where", cap=0.2),
    Column("remark", flex=True),
    Column("knob", cap=0.25, least=120),
)
_STYLES = {"missed": "yellow", "passed": "green"}


def remarks(
    dump: "Dump", graph: str | None = None, *, names: tuple[str, ...] = (), limit: int | None = None, said: str = ""
) -> RenderableType:
    """One row a remark."""
    found = [row for row in ROWS["remarks"](dump, graph) if isinstance(row, Remark) and concerns(row, names)]
    shown = found if limit is None else found[:limit]
    notes: list[Cell] = [] if found else [styled("no remarks", style="dim")]
    if len(found) > len(shown):
        notes.append(more(len(found) - len(shown), command(said, "remarks", *names, "--all")))
    return Sheet(_COLUMNS, [_cells(row) for row in shown], notes=notes)


def _cells(row: Remark) -> list[Cell]:
    kind = styled(row.kind, style=_STYLES.get(row.kind, ""))
    return [row.graph, kind, row.code, file_name(row.where or ""), one_line(row.message), row.knob or ""]
