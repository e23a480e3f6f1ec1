"""Bytes that kernels read and write, by launch, kernel, line, module or operator; and the effect of fusion on them."""

from collections.abc import Iterator
from typing import Final, TypeVar

from inspect_compile.analysis.cost.launch_origins import BY, By
from inspect_compile.analysis.fusion.graph_bytes import GraphBytes, TrafficSum, graph_bytes, sums_by, traffic_rows
from inspect_compile.analysis.lookup.row_filter import matches
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.cost.kernel_traffic import KernelTraffic
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.cost.cost_text import AT_HINTS, TITLES, UNKNOWN, moved_text, name_column, origin_column
from inspect_compile.tables.parts import DeclaredTable, Request
from inspect_compile.tables.styled_text import Block, Stack
from inspect_compile.tables.text import byte_text, nested_name, number_of, one_line, share_text

Moved = TypeVar("Moved", KernelTraffic, TrafficSum)

_LARGEST: Final = 3


def _bytes(kind: type[Moved]) -> tuple[Column[Moved], ...]:
    def read(row: Moved) -> str:
        return moved_text(row.read if row.is_known else None, is_unsure=row.is_read_unsure, is_symbolic=row.is_symbolic)

    def written(row: Moved) -> str:
        return moved_text(
            row.written if row.is_known else None, is_unsure=row.is_written_unsure, is_symbolic=row.is_symbolic
        )

    def share(row: Moved) -> str:
        return share_text(row.share or 0.0)

    def generated(row: Moved) -> str:
        return moved_text(row.generated if row.is_known else None, is_symbolic=row.is_symbolic)

    def ratio(row: Moved) -> Cell:
        if not (row.is_known and row.generated > row.least > 0):
            return ()
        return cell(f"{row.generated / row.least:.2g}×", "warn" if row.generated > 2 * row.least else "dim")

    return (
        Column("reads", read, right=True),
        Column("writes", written, right=True),
        Column("share", share, role="dim", right=True, drop=1),
        Column("without a cache", generated, right=True, drop=3),
        Column("ratio", ratio, right=True, optional=True, drop=4),
    )


def _largest(row: KernelTraffic) -> str:
    return "  ".join(f"{one_line(one.buffer)} {byte_text(one.read + one.written)}" for one in row.buffers[:_LARGEST])


LAUNCHES: Final[tuple[Column[KernelTraffic], ...]] = (
    name_column("kernel", lambda row: nested_name(row.graph, row.kernel)),
    Column("line", lambda row: str(row.line or ""), role="dim", right=True, drop=5),
    *_bytes(KernelTraffic),
    Column("largest buffers", _largest, role="dim", stretch=True, least=16, drop=6),
)


def _sums(by: By) -> tuple[Column[TrafficSum], ...]:
    return (
        origin_column(TITLES[by], lambda row: row.by, lambda row: row.what, lambda row: row.lines),
        Column("calls", lambda row: f"{row.launches:,}", right=True, drop=5),
        *_bytes(TrafficSum),
    )


SUMS: Final[dict[By, tuple[Column[TrafficSum], ...]]] = {by: _sums(by) for by in BY}


def traffic(request: Request, *, by: By | None = None) -> Stack:
    """One table a graph."""
    return request.stacked([_sheet(request, graph, by) for graph in request.graphs])


def _sheet(request: Request, graph: CompiledGraph, by: By | None) -> Block:
    total = graph_bytes(graph)
    if by is None:
        rows = request.kept(graph.traffic.all())
        return request.sheet("traffic", graph, LAUNCHES, rows, all_moved_text(total), notes=moved_notes(total))
    names = request.names
    sums = [row for row in sums_by(graph, by) if matches(row, names) or _has(row, names)]
    return request.sheet(
        "traffic", graph, SUMS[by], sums, all_moved_text(total), options=("--by", by), notes=moved_notes(total)
    )


def _has(row: TrafficSum, names: tuple[str, ...]) -> bool:
    return all(any(name in what for what in row.what) for name in names)


def all_moved_text(total: GraphBytes) -> str:
    """What the kernels of a graph move."""
    moved = None if total.unknown and not total.moved else total.moved
    return f"{moved_text(moved, is_symbolic=total.is_symbolic)} read and written by its kernels"


def moved_notes(total: GraphBytes) -> Iterator[str]:
    """What is left out of that, and what fusion saved or could save."""
    if total.unknown:
        launches = number_of(total.unknown, "launch", "launches")
        yield f"{UNKNOWN} not known of {launches}, of which the sums have only what is known"
    if total.unfused > total.moved:
        share = share_text(total.saved / total.unfused)
        yield f"fusion saved {byte_text(total.saved)} of {byte_text(total.unfused)} ({share}), op by op"
    if total.missed:
        yield f"pairs that were refused still cost up to {byte_text(total.missed)}: show fusion"
    if total.at_calls:
        yield f"library calls between loops cost up to {byte_text(total.at_calls)}"
    yield f"a single kernel would move {byte_text(total.least)}: inputs and outputs"
    if total.is_symbolic:
        yield f"{AT_HINTS} symbolic sizes: at their hints"


TABLE: Final = DeclaredTable(traffic, traffic_rows)
