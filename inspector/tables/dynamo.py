"""What Dynamo did with the program's frames: compiled, broken, compiled again, taken from a cache."""

from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.about import concerns
from inspect_compile.facts import CacheLookup, Fact, Frame, GraphBreak, Recompile
from inspect_compile.tables.parts import command, more
from inspect_compile.tables.row_sources import ROWS
from inspect_compile.tables.sheet import Cell, Column, Sheet, styled
from inspect_compile.tables.text import exception_text, file_name, number_of, one_line, place_text, seconds_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column("id"),
    Column("what"),
    Column("where", cap=0.3),
    Column("function", cap=0.2, least=100),
    Column("", flex=True),
)
_STYLES = {"graph break": "red", "recompile": "yellow", "failed": "red", "compiled": "green"}


def dynamo(
    dump: "Dump", graph: str | None = None, *, names: tuple[str, ...] = (), limit: int | None = None, said: str = ""
) -> RenderableType:
    """Frames, graph breaks, recompiles and looks into caches, by compile id."""
    found = [row for row in ROWS["dynamo"](dump, graph) if isinstance(row, Fact) and concerns(row, names)]
    shown = found if limit is None else found[:limit]
    notes: list[Cell] = []
    if not found:
        notes.append(styled("Dynamo compiled no frame", style="dim"))
    if len(found) > len(shown):
        notes.append(more(len(found) - len(shown), command(said, "dynamo", "--all")))
    return Sheet(_COLUMNS, [_cells(row) for row in shown], notes=notes)


def _cells(row: Fact) -> list[Cell]:
    match row:
        case Frame():
            where = f"{file_name(row.file)}:{row.line}"
            told = f"{number_of(row.graphs, 'graph')}, {number_of(row.nodes, 'node')}, {seconds_text(row.seconds)}"
            return _row(row.graph, row.status, where, row.function, exception_text(row.reason) if row.reason else told)
        case GraphBreak():
            function = row.where.function if row.where is not None else ""
            return _row(row.graph, "graph break", place_text(row.where), function, row.explanation or row.reason)
        case Recompile():
            where = f"{file_name(row.file)}:{row.line}"
            return _row(row.graph, "recompile", where, row.function, "; ".join(row.failed_guards))
        case CacheLookup():
            reason = f": {row.reason}" if row.reason else ""
            return _row(row.graph, "cache", "", "", f"{row.cache} {row.outcome}{reason}")
    return _row(row.graph, type(row).__name__, "", "", "")


def _row(compile_id: str, what: str, where: str, function: str, told: str) -> list[Cell]:
    return [compile_id, styled(what, style=_STYLES.get(what, "")), where, function, one_line(told)]
