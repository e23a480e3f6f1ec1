"""The rows of the table of scheduler nodes: each with what it computes, moves and waits for, and its kernel."""

import msgspec

from inspect_compile.facts import Kernel, Location, Operation
from inspect_compile.graph import CompiledGraph, Id, shared_fields


class ScheduleRow(msgspec.Struct, frozen=True, tag_field="fact", tag="schedule_row"):
    """One scheduler node after fusion; one before fusion where no fusion was recorded."""

    graph: str
    phase: str
    """pre_fusion or post_fusion."""
    name: str
    kind: str
    """pointwise, reduction, extern, template, nop, foreach, fused, grouped, other."""
    extern_kernel: str
    """The function that an extern kernel calls; empty for others."""
    numel: str
    rnumel: str
    """Elements that it iterates and reduces over; may be symbolic."""
    members: tuple[str, ...]
    """The operations in it, in order."""
    read: int | None
    """Bytes that it reads, each element of a buffer once; None if that is not known, or none are counted."""
    written: int | None
    """Bytes that it writes, counted in the same way."""
    is_read_unsure: bool
    """True if `read` is an upper bound, because it depends on values."""
    is_written_unsure: bool
    """True if `written` is an upper bound."""
    is_counted: bool
    """False if no bytes belong to it: a view of a buffer, an element of a tuple, a node before fusion."""
    kernel: str
    """The kernel that runs it; empty if none does."""
    predecessors: tuple[str, ...]
    """Operations that must run before it."""
    users: tuple[str, ...]
    """Operations that read what it writes; OUTPUT for an output of the graph."""
    nodes: tuple[str, ...]
    """FX origins, in graph order."""
    lines: tuple[Location, ...]
    """Their source lines, each once."""


def schedule_rows(graph: CompiledGraph) -> list[ScheduleRow]:
    """The scheduler nodes of `graph` and of the graphs nested in it, in schedule order."""
    return _rows(graph, graph.groups or graph.rows(Operation))


def fused_rows(graph: CompiledGraph) -> list[ScheduleRow]:
    """Those after fusion alone; none where no fusion was recorded."""
    return _rows(graph, graph.groups)


def _rows(graph: CompiledGraph, shown: list[Operation]) -> list[ScheduleRow]:
    kernels = {Id(row.graph, group): row.name for row in graph.rows(Kernel) for group in row.groups}
    where = graph.line_of
    moved = graph.outermost.traffic
    rows = []
    for row in shown:
        own = moved.of_node(row)
        is_known = own is not None and own.is_known
        lines = (where[Id(row.graph, node)] for node in row.nodes if Id(row.graph, node) in where)
        rows.append(
            ScheduleRow(
                **shared_fields(row, ScheduleRow, "extern_kernel"),
                extern_kernel=row.extern_kernel or "",
                read=own.read if own is not None and is_known else None,
                written=own.written if own is not None and is_known else None,
                is_read_unsure=own is not None and own.is_read_unsure,
                is_written_unsure=own is not None and own.is_written_unsure,
                is_counted=own is not None,
                kernel=kernels.get(Id.of(row), ""),
                lines=tuple(dict.fromkeys(lines)),
            )
        )
    return rows
