"""Which values were realized, that is, became buffers, and by whom; and which never were."""

from typing import Final

from inspect_compile.analysis.lowering.inlining import Inlined, inlined
from inspect_compile.facts import Realize
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.parts import DeclaredTable, Listing, Request, each, recorded
from inspect_compile.tables.styled_text import Stack
from inspect_compile.tables.text import nested_name, number_of


def _node(row: Realize | Inlined) -> str:
    return nested_name(row.graph, row.node or "")


def _operations(row: Inlined) -> str | Cell:
    return " ".join(row.operations) or cell("nothing that runs needs it", "dim")


ASKED: Final[tuple[Column[Realize], ...]] = (
    Column("while lowering", _node, role="name", stretch=True, least=8, most=40, middle=True),
    Column("buffer", lambda row: row.buffer or "", role="accent", stretch=True, least=6, most=30, middle=True),
    Column("outcome", lambda row: cell("realized", "good") if row.realized else cell("was realized", "dim"), drop=1),
    Column("was", lambda row: row.ir, role="type", most=24, drop=3),
    Column("reason", lambda row: row.reason, stretch=True, least=30, wraps=True),
    Column("caller", lambda row: row.caller, role="dim", stretch=True, least=24, middle=True, drop=2),
)

_ASKS = Listing[Realize](
    "realize",
    ASKED,
    lambda graph: graph.rows(Realize),
    summary=lambda found: (
        f"{number_of(sum(row.realized for row in found), 'value')} realized, "
        f"{number_of(sum(not row.realized for row in found), 'request')} for values that already were"
    ),
    none="no value was realized on request",
)
"""Each request to realize a value, in order."""

INLINED: Final[tuple[Column[Inlined], ...]] = (
    Column("node", _node, role="name", stretch=True, least=8, most=40, middle=True),
    Column("target", lambda row: row.target, role="dim", stretch=True, least=8, most=40),
    Column("times", lambda row: str(row.count), right=True),
    Column("in", _operations, stretch=True, least=8, most=60),
    Column("for", lambda row: " ".join(row.consumers), stretch=True, least=8, most=100, drop=1),
)

_INLINED = Listing[Inlined](
    "realize",
    INLINED,
    lambda graph: inlined(graph).values(),
    summary=lambda found: (
        f"{number_of(len(found), 'value')} never realized, "
        f"computed {number_of(sum(row.count for row in found), 'time')} where read"
    ),
    none="every value became a buffer",
)


def realize(request: Request) -> Stack:
    """The requests of each graph; then the values that were inlined into their consumers."""
    return Stack(part(request) for part in ((_ASKS, _INLINED) if any(request.graphs) else (_ASKS,)))


TABLE: Final = DeclaredTable(
    realize, each(lambda graph: [*graph.rows(Realize), *inlined(graph).values()]), recorded(Realize)
)
