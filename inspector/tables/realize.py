"""Which values became buffers, and who asked."""

from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.facts import Graph, Realize
from inspect_compile.tables.nodes import nested_name
from inspect_compile.tables.parts import listing
from inspect_compile.tables.sheet import Cell, Column, styled
from inspect_compile.tables.text import number_of

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column("while lowering", cap=0.24),
    Column("buffer", cap=0.22),
    Column(""),
    Column("was", least=100),
    Column("because", flex=True),
    Column("caller", cap=0.34, least=130),
)


def realize(
    dump: "Dump", graph: str | None = None, *, names: tuple[str, ...] = (), limit: int | None = None, said: str = ""
) -> RenderableType:
    """Each ask, in order."""

    def rows(found: Graph) -> list[Realize]:
        return dump.rows(Realize, found.graph)

    return listing(
        dump,
        graph,
        rows,
        _cells,
        _COLUMNS,
        name="realize",
        told=lambda found: (
            f"{number_of(sum(row.realized for row in found), 'value')} became real, "
            f"{number_of(sum(not row.realized for row in found), 'ask', 'asks')} for what was real already"
        ),
        names=names,
        limit=limit,
        said=said,
        none="no value was asked to become a buffer",
    )


def _cells(row: Realize) -> list[Cell]:
    state = styled("real", style="green") if row.realized else styled("was real", style="dim")
    return [nested_name(row.graph, row.node or ""), row.buffer or "", state, row.ir, row.reason, row.caller]
