"""The guards: the conditions under which compiled code is reused, and the source line that needed each."""

from collections import Counter
from typing import TYPE_CHECKING, Final

from rich.console import RenderableType

from inspect_compile.analysis.dumps.nothing import nothing, nothing_text
from inspect_compile.analysis.frontend.guards import GuardRow, guard_rows
from inspect_compile.analysis.lookup.row_filter import matches
from inspect_compile.tables.columns import Column
from inspect_compile.tables.parts import command, first_of
from inspect_compile.tables.styled_text import joined, styled
from inspect_compile.tables.terminal_table import TerminalTable
from inspect_compile.tables.text import number_of, one_line, place_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

COLUMNS: Final[tuple[Column[GuardRow], ...]] = (
    Column("id", lambda row: row.graph, drop=2),
    Column("of", lambda row: one_line(row.expression), stretch=True, least=28, middle=True),
    Column("what must hold", lambda row: one_line(row.condition), stretch=True, least=26, most=120),
    Column("needed by", lambda row: place_text(row.where), optional=True, stretch=True, least=14, most=32, middle=True),
    Column(
        "guard", lambda row: one_line(" ".join(dict.fromkeys(row.kinds))), role="dim", stretch=True, least=24, drop=3
    ),
)
_NOTE: Final = "If one of them does not hold, the function is compiled again: `show dynamo` shows which."


def guards(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> RenderableType:
    """Each guard, in Dynamo's order, equal ones in one row; above them the number of each kind."""
    found = [row for row in guard_rows(dump, graph) if matches(row, names)]
    if not found and not names and nothing(dump) is not None:
        return styled(nothing_text(dump), style="dim")
    kinds = Counter(kind for row in found for kind in row.kinds)
    told = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common(6))
    head = joined((number_of(kinds.total(), "guard"), "bold"), "  ", (told, "dim"), one_line=True)
    shown, notes = first_of(found, limit, command(dump_argument, "guards", *names, "--all"))
    if found:
        notes.append(styled(_NOTE, "dim"))
    return TerminalTable(COLUMNS, shown, title=head, notes=notes)
