"""Which values were realized, that is, became buffers, and by whom; and which never were."""

from typing import TYPE_CHECKING

from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.lowering.inlining import Inlined, inlined
from inspect_compile.facts import Realize
from inspect_compile.tables.lowering.nodes import nested_name
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.sheet import Cell, Column, Stack, styled
from inspect_compile.tables.text import number_of

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column("while lowering", cap=0.24),
    Column("buffer", cap=0.22),
    Column(""),
    Column("was", least=140),
    Column("because", flex=True, wraps=True),
    Column("caller", cap=0.34, least=130),
)


def _cells(row: Realize) -> list[Cell]:
    state = styled("realized", style="green") if row.realized else styled("was realized", style="dim")
    return [nested_name(row.graph, row.node or ""), row.buffer or "", state, row.ir, styled(row.reason), row.caller]


_ASKS = Listing[Realize](
    "realize",
    _COLUMNS,
    lambda dump, graph: dump.rows(Realize, graph),
    _cells,
    told=lambda found: (
        f"{number_of(sum(row.realized for row in found), 'value')} realized, "
        f"{number_of(sum(not row.realized for row in found), 'request')} for values that already were"
    ),
    none="no value was asked to become a buffer",
)
"""Each request to realize a value, in order."""

_INLINED_COLUMNS = (
    Column("node", cap=0.26),
    Column("target", cap=0.26),
    Column("times", right=True),
    Column("in", cap=0.3),
    Column("for", flex=True),
)


def _inlined_cells(row: Inlined) -> list[Cell]:
    operations = " ".join(row.operations) if row.operations else styled("nothing that runs needs it", style="dim")
    return [nested_name(row.graph, row.node), row.target, str(row.count), operations, " ".join(row.consumers)]


_INLINED = Listing[Inlined](
    "realize",
    _INLINED_COLUMNS,
    lambda dump, graph: inlined(dump, graph).values(),
    _inlined_cells,
    told=lambda found: (
        f"{number_of(len(found), 'value')} never realized, "
        f"computed {number_of(sum(row.count for row in found), 'time')} where read"
    ),
    none="every value became a buffer",
)


def realize(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> Stack:
    """The requests of each graph; then the values that were inlined into their consumers."""
    parts = (_ASKS, _INLINED) if graphs_of(dump, graph) else (_ASKS,)
    return Stack([part(dump, graph, names=names, limit=limit, dump_argument=dump_argument) for part in parts])
