"""The guards: under which conditions compiled code is used again."""

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.about import concerns
from inspect_compile.facts import Guard
from inspect_compile.tables.parts import command, more
from inspect_compile.tables.row_sources import ROWS
from inspect_compile.tables.sheet import Cell, Column, Sheet, joined
from inspect_compile.tables.text import number_of, one_line, place_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column("id"),
    Column("guard", cap=0.25),
    Column("of", cap=0.4, least=70),
    Column("where", cap=0.2, least=120),
    Column("condition", flex=True),
)


def guards(
    dump: "Dump", graph: str | None = None, *, names: tuple[str, ...] = (), limit: int | None = None, said: str = ""
) -> RenderableType:
    """Each guard, in Dynamo's order; above them how many there are of each kind."""
    found = [row for row in ROWS["guards"](dump, graph) if isinstance(row, Guard) and concerns(row, names)]
    shown = found if limit is None else found[:limit]
    kinds = ", ".join(f"{kind} {count}" for kind, count in Counter(row.kind for row in found).most_common(6))
    notes: list[Cell] = []
    if len(found) > len(shown):
        notes.append(more(len(found) - len(shown), command(said, "guards", *names, "--all")))
    head = joined((number_of(len(found), "guard"), "bold"), "  ", (kinds, "dim"), one_line=True)
    return Sheet(_COLUMNS, [_cells(row) for row in shown], title=head, notes=notes)


def _cells(row: Guard) -> list[Cell]:
    return [row.graph, row.kind, one_line(row.source), place_text(row.where), one_line(" and ".join(row.code))]
