"""The rows of the table of kernels: each kernel with all its calls."""

from collections.abc import Iterable
from typing import Final

import msgspec

from inspect_compile.analysis.kernels.recorded_kernels import names_in_log
from inspect_compile.analysis.kernels.tiling import form_of
from inspect_compile.facts import Kernel, Location
from inspect_compile.graph import CompiledGraph, Id, grouped
from inspect_compile.graph.cost.kernel_traffic import LaunchTraffic
from inspect_compile.graph.kernels.binaries import Configuration, configurations, of_kernel, of_kernels
from inspect_compile.graph.kernels.launches import Launch

_OF_BINARY: Final = ("registers", "allocated_registers", "spills", "occupancy", "limit")


class KernelRow(msgspec.Struct, frozen=True, tag_field="fact", tag="kernel_row"):
    """One kernel with all its calls; for an extern function, its calls in this graph."""

    graph: str
    name: str
    kind: str
    """triton, cpp, extern, template, user_triton or other."""
    form: str
    """As in `Kernel.form`; the kind where an older dump has no form."""
    launches: tuple[int, ...]
    """Line numbers of its calls in output_code.py."""
    read: int | None
    """Bytes that all calls read, each element of a buffer once in a call; None if that is not known of a call."""
    written: int | None
    """Bytes that they write, counted in the same way."""
    is_read_unsure: bool
    """True if `read` is an upper bound, because it depends on values."""
    is_written_unsure: bool
    """True if `written` is an upper bound."""
    lines: tuple[Location, ...]
    """Source lines, each once, in the order of the calls."""
    operations: tuple[str, ...]
    """Scheduler nodes before fusion, of all calls."""
    nodes: tuple[str, ...]
    """FX origins, each once, in the order of the calls."""
    source: str
    """Path of the source, relative to the graph's folder; empty for extern functions."""
    is_compiled: bool = False
    """True if Triton compiled it; what follows is of the configuration that runs, else of the first."""
    registers: int | None = None
    """Registers of a thread."""
    allocated_registers: int | None = None
    """Registers that the hardware allocates for a thread, if they differ."""
    spills: int | None = None
    """Bytes of a thread that are spilled to memory."""
    occupancy: float | None = None
    """Share of a multiprocessor's warps that can be resident at once, between 0 and 1."""
    limit: str = ""
    """What limits the occupancy: `warps`, `blocks`, `registers` or `shared memory`."""
    in_log: str = ""
    """What the log calls it, of a graph of a log that was compiled again; empty where the log has none of these nodes
    or of this source.
    """


def kernel_rows(graph: CompiledGraph) -> list[KernelRow]:
    """The kernels of `graph`, nested graphs included, in the order of their first calls."""
    moved = graph.traffic
    by_name = grouped(moved.launches, lambda launch: Id(launch.graph, launch.kernel.name))
    compiled = of_kernels(configurations(graph))
    names = names_in_log(graph)
    return [
        _row(calls[0].kernel, calls, moved, of_kernel(compiled, of, name), names.get(name, ""))
        for (of, name), calls in by_name.items()
    ]


def rows_of_calls(graph: CompiledGraph, kernels: Iterable[Kernel]) -> list[KernelRow]:
    """The same with one row for each of `kernels`, which are `graph`'s: an extern function has one for each call."""
    moved = graph.traffic
    calls = grouped(moved.launches, lambda launch: _key(launch.kernel))
    compiled = of_kernels(configurations(graph.outermost))
    return [
        _row(kernel, calls.get(_key(kernel), []), moved, of_kernel(compiled, kernel.graph, kernel.name))
        for kernel in kernels
    ]


def _key(kernel: Kernel) -> tuple[str, str, tuple[int, ...]]:
    return kernel.graph, kernel.name, kernel.launches


def _row(
    kernel: Kernel, calls: list[Launch], moved: LaunchTraffic, compiled: list[Configuration], in_log: str = ""
) -> KernelRow:
    traffic = [moved.of(call) for call in calls]
    is_known = bool(traffic) and all(row.is_known for row in traffic)
    runs = next(iter(compiled), None)
    return KernelRow(
        graph=kernel.graph,
        name=kernel.name,
        kind=kernel.kind,
        form=form_of(kernel),
        launches=tuple(call.line for call in calls if call.line is not None),
        read=sum(row.read for row in traffic) if is_known else None,
        written=sum(row.written for row in traffic) if is_known else None,
        is_read_unsure=any(row.is_read_unsure for row in traffic),
        is_written_unsure=any(row.is_written_unsure for row in traffic),
        lines=tuple(dict.fromkeys(line for call in calls for line in call.lines)),
        operations=tuple(operation for call in calls for operation in call.operations),
        nodes=tuple(dict.fromkeys(node for call in calls for node in call.nodes)),
        source=kernel.source,
        is_compiled=runs is not None,
        in_log=in_log,
        **({name: getattr(runs, name) for name in _OF_BINARY} if runs is not None else {}),
    )
