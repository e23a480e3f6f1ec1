"""Which values became buffers, and who asked."""

from inspect_compile.facts import Realize
from inspect_compile.tables.nodes import nested_name
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.sheet import Cell, Column, styled
from inspect_compile.tables.text import number_of

_COLUMNS = (
    Column("while lowering", cap=0.24),
    Column("buffer", cap=0.22),
    Column(""),
    Column("was", least=100),
    Column("because", flex=True),
    Column("caller", cap=0.34, least=130),
)


def _cells(row: Realize) -> list[Cell]:
    state = styled("real", style="green") if row.realized else styled("was real", style="dim")
    return [nested_name(row.graph, row.node or ""), row.buffer or "", state, row.ir, row.reason, row.caller]


realize = Listing[Realize](
    "realize",
    _COLUMNS,
    lambda dump, graph: dump.rows(Realize, graph),
    _cells,
    told=lambda found: (
        f"{number_of(sum(row.realized for row in found), 'value')} became real, "
        f"{number_of(sum(not row.realized for row in found), 'ask', 'asks')} for what was real already"
    ),
    none="no value was asked to become a buffer",
)
"""Each ask, in order."""
