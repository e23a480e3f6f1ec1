"""What the compiler did, missed or noticed, in words."""

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from inspect_compile.analysis.lookup.row_filter import matches
from inspect_compile.facts import Remark
from inspect_compile.tables.parts import command, more, title
from inspect_compile.tables.row_sources import ROWS
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, joined, styled
from inspect_compile.tables.text import clean, file_name, number_of, one_line

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column("kind"),
    Column("code", cap=0.22),
    Column("where", cap=0.2),
    Column("remark", flex=True, wraps=True),
    Column("knob", cap=0.25, least=140),
)
_STYLES = {"missed": "yellow", "passed": "green"}


def remarks(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> RenderableType:
    """One row for each remark, a sheet for each graph, or for a compile that had no graph yet."""
    found: dict[str, list[Remark]] = {}
    for row in ROWS["remarks"](dump, graph):
        if isinstance(row, Remark) and matches(row, names):
            found.setdefault(row.graph, []).append(row)
    sheets: list[RenderableType] = []
    for name, rows in found.items():
        shown = rows if limit is None else rows[:limit]
        notes: list[Cell] = []
        if len(rows) > len(shown):
            notes.append(more(len(rows) - len(shown), command(dump_argument, "remarks", *names, "--all")))
        sheets.append(Sheet(_COLUMNS, [_cells(row) for row in shown], title=_title(dump, name, rows), notes=notes))
    return Stack(sheets or [styled("no remarks", style="dim")])


def _title(dump: "Dump", name: str, rows: list[Remark]) -> Text:
    known, told = dump.graph(name), number_of(len(rows), "remark")
    if known is not None:
        return title(known, told)
    called = f"before there was a graph, {clean(name)}" if name else "the run"
    return joined((called, "bold"), "  ", (told, "dim"), one_line=True)


def _cells(row: Remark) -> list[Cell]:
    kind = styled(row.kind, style=_STYLES.get(row.kind, ""))
    return [kind, row.code, file_name(row.where or ""), styled(one_line(row.message)), row.knob or ""]
