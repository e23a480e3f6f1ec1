"""The graphs of a dump, one per line."""

from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.dumps.nothing import nothing_text
from inspect_compile.analysis.overview.summary import GraphSummary, summarize
from inspect_compile.tables.cost.moved_text import moved_text
from inspect_compile.tables.parts import command, more
from inspect_compile.tables.sheet import Cell, Column, Sheet, styled
from inspect_compile.tables.text import byte_text, exception_text, multiple_text, seconds_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column("graph", cap=0.32),
    Column("kind"),
    Column("compile", least=84),
    Column("nodes", right=True),
    Column("ops", right=True, least=100),
    Column("groups", right=True, least=100),
    Column("kernels", right=True),
    Column("calls", right=True, least=120),
    Column("FLOP", right=True, least=90),
    Column("moved", right=True),
    Column("peak", right=True),
    Column("time", right=True),
    Column("", flex=True),
)


def graphs(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> RenderableType:
    """Each graph that was compiled on its own, and what became of it."""
    wanted = [found for found in graphs_of(dump, graph) if not names or any(name in found.graph for name in names)]
    shown = wanted if limit is None else wanted[:limit]
    notes = (
        [more(len(wanted) - len(shown), command(dump_argument, "graphs", "--all"))] if len(wanted) > len(shown) else []
    )
    if not wanted:
        notes = [styled(nothing_text(dump), style="dim")]
    return Sheet(_COLUMNS, [_cells(summarize(dump, found)) for found in shown], notes=notes)


def _cells(row: GraphSummary) -> list[Cell]:
    outcome = styled("")
    if row.status == "failed":
        outcome = styled(f"failed: {exception_text(row.exception or '')}", style="red")
    elif row.status == "stopped":
        outcome = styled("recorded in part", style="yellow")
    elif row.status in ("open", "unfinished"):
        outcome = styled("still compiling" if row.status == "open" else "not finished", style="yellow")
    elif row.missing:
        outcome = styled(f"{row.accounted:.1%} of its nodes accounted for", style="yellow")
    elif row.nested:
        outcome = styled(f"{row.nested} nested", style="dim")
    return [
        row.graph,
        row.kind,
        row.compile_id or "",
        f"{row.nodes:,}",
        f"{row.operations:,}",
        f"{row.groups:,}",
        f"{sum(row.kernels.values()):,}",
        f"{row.launches:,}",
        multiple_text(row.flops, ""),
        moved_text(row.moved_bytes if row.moved_bytes or not row.unknown_launches else None),
        byte_text(row.peak_bytes),
        seconds_text(row.seconds),
        outcome,
    ]
