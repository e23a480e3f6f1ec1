"""The guards: the conditions under which compiled code is reused, and the source line that needed each."""

from collections import Counter
from typing import Final

from inspect_compile.analysis.dumps.nothing import nothing, nothing_text
from inspect_compile.analysis.frontend.guards import GuardRow, guard_rows
from inspect_compile.facts import Guard
from inspect_compile.tables.columns import Column, place_cell
from inspect_compile.tables.parts import DeclaredTable, Request, limited, recorded_of_compiles
from inspect_compile.tables.styled_text import Block, heading, styled
from inspect_compile.tables.text import number_of, one_line

COLUMNS: Final[tuple[Column[GuardRow], ...]] = (
    Column("id", lambda row: row.graph, drop=2),
    Column("of", lambda row: one_line(row.expression), stretch=True, least=28, middle=True),
    Column("what must hold", lambda row: one_line(row.condition), stretch=True, least=26, most=120),
    Column("needed by", lambda row: place_cell(row.where), optional=True, stretch=True, least=14, most=44, middle=True),
    Column(
        "guard", lambda row: one_line(" ".join(dict.fromkeys(row.kinds))), role="dim", stretch=True, least=24, drop=3
    ),
)
_NOTE: Final = "If a guard fails, the function recompiles; `show dynamo` shows which guard failed."


def guards(request: Request) -> Block:
    """Each guard, in Dynamo's order, equal ones in one row; above them the number of each kind."""
    found = request.kept(guard_rows(request.graphs))
    if not found and not request.names and nothing(request.dump) is not None:
        return styled(nothing_text(request.dump), "dim")
    kinds = Counter(kind for row in found for kind in row.kinds)
    counts = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common(6))
    head = heading(number_of(kinds.total(), "guard"), counts)
    notes = [styled(_NOTE, "dim")] if found else []
    return limited(COLUMNS, found, request.limit, request.every("guards"), title=head, notes=notes)


TABLE: Final = DeclaredTable(guards, guard_rows, recorded_of_compiles(Guard))
