"""The guards: the conditions under which compiled code is reused, and the source line that needed each."""

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.dumps.nothing import nothing, nothing_text
from inspect_compile.analysis.frontend.frames import plain_source
from inspect_compile.analysis.lookup.row_filter import matches
from inspect_compile.facts import Guard
from inspect_compile.knowledge.frontend.guard_words import words
from inspect_compile.tables.parts import command, more
from inspect_compile.tables.row_sources import ROWS
from inspect_compile.tables.sheet import Cell, Column, Sheet, joined, styled
from inspect_compile.tables.text import number_of, one_line, place_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column("id"),
    Column("of", cap=0.35),
    Column("what must hold", flex=True),
    Column("needed by", cap=0.2),
    Column("guard", cap=0.2, least=120, style="dim"),
)


def guards(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> RenderableType:
    """Each guard, in Dynamo's order, equal ones in one row; above them the number of each kind."""
    found = [row for row in ROWS["guards"](dump, graph) if isinstance(row, Guard) and matches(row, names)]
    rows: dict[tuple[Cell, ...], list[str]] = {}
    for row in found:
        rows.setdefault(_cells(row), []).append(row.kind)
    shown = list(rows.items()) if limit is None else list(rows.items())[:limit]
    told = ", ".join(f"{kind} {count}" for kind, count in Counter(row.kind for row in found).most_common(6))
    notes: list[Cell] = []
    if len(rows) > len(shown):
        notes.append(more(len(rows) - len(shown), command(dump_argument, "guards", *names, "--all")))
    if found:
        notes.append(
            styled("If one of them does not hold, the function is compiled again: `show dynamo` shows which.", "dim")
        )
    if not found and not names and nothing(dump) is not None:
        return styled(nothing_text(dump), style="dim")
    head = joined((number_of(len(found), "guard"), "bold"), "  ", (told, "dim"), one_line=True)
    return Sheet(
        _COLUMNS,
        [[*cells, one_line(" ".join(dict.fromkeys(kinds)))] for cells, kinds in shown],
        title=head,
        notes=notes,
    )


def _cells(row: Guard) -> tuple[Cell, ...]:
    return row.graph, one_line(plain_source(row.source)), one_line(words(row)), place_text(row.where)
