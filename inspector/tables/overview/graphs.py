"""The graphs of a dump, one per line."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.dumps.nothing import nothing_text
from inspect_compile.analysis.findings.kept import summaries_of
from inspect_compile.analysis.overview.logged import LoggedGraph, logged
from inspect_compile.analysis.overview.records import GraphSummary
from inspect_compile.facts import Graph, GraphEnd
from inspect_compile.graph import Graphs
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.cost.cost_text import moved_text
from inspect_compile.tables.parts import DeclaredTable, Request, first_of
from inspect_compile.tables.styled_text import Block, Table, styled
from inspect_compile.tables.text import byte_text, exception_text, multiple_text, seconds_text

KIND_WORDS: Final = {"cpp": "C++", "triton": "Triton", "user_triton": "of your own Triton", "template": "template"}
"""Kind of kernels, if a person calls it otherwise."""


def _outcome(row: GraphSummary) -> Cell:
    """What became of it, if that needs to be mentioned."""
    if row.status == "failed":
        return cell(f"failed: {exception_text(row.exception or '')}", "bad")
    if row.status != "compiled":
        return cell({"stopped": "recorded in part", "open": "still compiling"}.get(row.status, "not finished"), "warn")
    if row.missing:
        return cell(f"{row.accounted:.1%} of its nodes accounted for", "warn")
    return cell(f"{row.nested} nested" if row.nested else "", "dim")


COLUMNS: Final[tuple[Column[GraphSummary], ...]] = (
    Column("graph", lambda row: row.graph, stretch=True, least=20, middle=True),
    Column("kind", lambda row: row.kind),
    Column("compile", lambda row: row.compile_id or "", drop=5),
    Column("nodes", lambda row: f"{row.nodes:,}", right=True),
    Column("operations", lambda row: f"{row.operations:,}", right=True, drop=4),
    Column("groups", lambda row: f"{row.groups:,}", right=True, drop=4),
    Column("kernels", lambda row: f"{sum(row.kernels.values()):,}", right=True),
    Column("calls", lambda row: f"{row.launches:,}", right=True, drop=3),
    Column("FLOP", lambda row: multiple_text(row.flops, ""), right=True, drop=6),
    Column(
        "moved",
        lambda row: moved_text(row.moved_bytes if row.moved_bytes or not row.unknown_launches else None),
        right=True,
    ),
    Column("peak", lambda row: byte_text(row.peak_bytes), right=True, drop=1),
    Column("compiling", lambda row: seconds_text(row.seconds), right=True),
    Column("outcome", _outcome, stretch=True, least=16, optional=True),
)


LOGGED_COLUMNS: Final[tuple[Column[LoggedGraph], ...]] = (
    Column("graph", lambda row: row.graph, stretch=True, least=20, middle=True),
    Column("kind", lambda row: row.kind),
    Column("compile", lambda row: row.compile_id or ""),
    Column("device", lambda row: row.device or "not known"),
    Column("inputs", lambda row: _known(row.inputs), right=True),
    Column("nodes", lambda row: _known(row.nodes), right=True),
    Column("kernels", lambda row: _known(row.kernels), right=True),
    Column("calls", lambda row: _known(row.launches), right=True),
)
"""Of a dump that was made of a log."""


def _known(count: int | None) -> str:
    return "not known" if count is None else f"{count:,}"


def graphs(request: Request) -> Block:
    """Each graph that was compiled on its own, and what became of it."""
    names = request.names
    wanted = [found for found in request.graphs if not names or any(name in found.name for name in names)]
    if not wanted:
        return styled(nothing_text(request.dump), "dim")
    shown, notes = first_of(wanted, request.limit, request.every("graphs"))
    if request.dump.run.origin:
        return Table(LOGGED_COLUMNS, list(map(logged, shown)), notes=notes)
    return Table(COLUMNS, summaries_of(request.dump, shown), notes=notes)


def _rows(graphs: Graphs) -> Iterator[GraphSummary] | Iterator[LoggedGraph]:
    if graphs.dump.run.origin:
        return map(logged, graphs)
    from inspect_compile.analysis.overview.summary import summarize  # the table takes them from what the dump keeps

    return map(summarize, graphs)


def _facts(graphs: Graphs) -> Iterator[Graph | GraphEnd]:
    for found in graphs.dump.graphs():
        if graphs.name is None or found.graph == graphs.name or found.graph.startswith(f"{graphs.name}/"):
            yield found
            if (end := graphs.dump.graph_end(found.graph)) is not None:
                yield end


TABLE: Final = DeclaredTable(graphs, _rows, _facts)
