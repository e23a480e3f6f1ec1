"""The scheduler nodes after fusion, in the order of the generated code."""

from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.cost.kernel_traffic import LaunchTraffic, launch_traffic
from inspect_compile.facts import Graph, Operation
from inspect_compile.tables.cost.moved_text import read_text, written_text
from inspect_compile.tables.parts import listing
from inspect_compile.tables.sheet import Cell, Column
from inspect_compile.tables.text import number_of

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column("operation", cap=0.3),
    Column("kind", cap=0.25),
    Column("elements", right=True, least=100),
    Column("reads", right=True),
    Column("writes", right=True),
    Column("waits for", cap=0.2, least=110),
    Column("used by", cap=0.2, least=90),
    Column("nodes", flex=True),
)


def _kind(row: Operation) -> str:
    """pointwise, reduction, …; for an extern kernel its function, `aten.cumsum`."""
    if not row.extern_kernel:
        return row.kind
    return row.extern_kernel.removeprefix("torch.ops.").removeprefix("extern_kernels.").removesuffix(".default")


def schedule(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> RenderableType:
    """One row for each scheduler node; --json also has those before fusion."""
    moved: dict[str, LaunchTraffic] = {}

    def rows(found: Graph) -> list[Operation]:
        outer = found.graph.partition("/")[0]
        moved[outer] = launch_traffic(dump, outer)
        operations = dump.rows(Operation, found.graph)
        after = [row for row in operations if row.phase == "post_fusion"]
        return after or operations

    def cells(row: Operation) -> list[Cell]:
        own = moved[row.graph.partition("/")[0]].of_node(row)
        elements = row.numel if row.rnumel in ("", "1") else f"{row.numel} × {row.rnumel}"
        return [
            row.name,
            _kind(row),
            elements,
            "" if own is None else read_text([own]),
            "" if own is None else written_text([own]),
            " ".join(row.predecessors),
            " ".join(row.users),
            " ".join(row.nodes),
        ]

    return listing(
        dump,
        graph,
        rows,
        cells,
        _COLUMNS,
        name="schedule",
        told=lambda found: f"{number_of(len(found), 'scheduler node')} after fusion",
        names=names,
        limit=limit,
        dump_argument=dump_argument,
    )
