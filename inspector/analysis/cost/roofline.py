"""The roofline: the least time that each launch can take on a device, and what it is bound by.

A kernel takes at least as long as its bytes at the full memory bandwidth, and as its operations at the peak of the
units that execute them. docs/cost.md says what is counted and what this bound ignores.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from inspect_compile.analysis.cost.kernel_work import Work, launch_work
from inspect_compile.analysis.cost.roofs import Roof
from inspect_compile.analysis.kernels.launch_times import Key
from inspect_compile.analysis.kernels.launch_times import measured as in_the_run
from inspect_compile.facts import Location
from inspect_compile.graph import CompiledGraph, outermost
from inspect_compile.graph.cost.kernel_traffic import KernelTraffic
from inspect_compile.knowledge.kernels.library_kernels import is_collective

MEMORY: Final = "memory"
COMPUTE: Final = "compute"
LAUNCH: Final = "launch"
NOTHING: Final = ""
OVER_LINKS: Final = "it moves bytes over links between devices of unknown bandwidth"


class CallTime(msgspec.Struct, frozen=True):
    """How long a launch took when it ran."""

    seconds: float
    """Seconds for one call."""
    calls: int
    how: str
    """Where the time is from: `trace` or `--measure`."""


class Bounds(msgspec.Struct, frozen=True, tag_field="fact", tag="roofline"):
    """Bounds of one launch on the device. `show roofline --json` prints these."""

    graph: str
    kernel: str
    kind: str
    line: int | None
    """Line number in output_code.py."""
    bytes: int
    """Bytes read and written, each element once, without those that depend on values."""
    unsure: int
    """Bytes that depend on values, as an upper bound."""
    heavy: int
    """FLOPs of matmuls, convolutions and attention."""
    scalar: int
    """Other scalar operations."""
    dtype: str
    peak: str
    """The peak of the device that applies: `bfloat16`, `tf32`."""
    intensity: float | None
    """Operations per byte; None if it moves nothing."""
    memory_seconds: float
    compute_seconds: float
    least_seconds: float
    """The larger of the two times."""
    bound: str
    """memory or compute; launch if both are below the time of an empty kernel; empty if nothing is counted for it."""
    share: float
    """Share of the least time of all launches of the graph."""
    measured_seconds: float | None
    measured_by: str
    reached: float | None
    """Least time divided by measured time: 1 is at the roof."""
    is_symbolic: bool
    nodes: tuple[str, ...]
    lines: tuple[Location, ...]
    uncounted: str = ""
    """Why it computes more than `heavy` and `scalar` say; empty if everything is counted."""


def roofline(graph: CompiledGraph, roof: Roof, measured: Mapping[Key, CallTime] | None = None) -> list[Bounds]:
    """The bounds of the launches of `graph`, nested graphs included, in code order.

    Times in `measured` take precedence over what the run itself measured.
    """
    times = {
        key: CallTime(row.milliseconds / 1e3, row.calls, "--measure, first call" if row.is_cold else "--measure")
        for key, row in in_the_run(graph).items()
    }
    times.update(measured or {})
    work = launch_work(graph)
    around = graph.dump.graph(outermost(graph.name))
    tf32 = around.tf32 if around is not None else None
    rows = [_bounds(row, work.get((row.graph, row.kernel, row.line)), roof, tf32) for row in graph.traffic.all()]
    total = sum(row.least_seconds for row in rows) or 1.0
    return [_finished(row, total, times.get((row.graph, row.kernel, row.line))) for row in rows]


def _bounds(row: KernelTraffic, work: Work | None, roof: Roof, tf32: bool | None) -> Bounds:
    heavy, scalar, dtype = (work.heavy, work.scalar, work.dtype) if work is not None else (0, 0, "")
    may_round = tf32 is not False or "convolution" in row.kernel  # cuDNN uses tf32 unless told not to
    peak = roof.peak_of(dtype, may_round=may_round) if heavy else roof.vector_of(dtype)
    by_units = [heavy / roof.peak[peak] if heavy else 0.0, scalar / roof.vector[roof.vector_of(dtype)]]
    compute = max(by_units)
    is_between = is_collective(row.kernel)  # the memory's bandwidth is no bound for what goes over links
    memory = 0.0 if is_between else row.sure / roof.bandwidth
    least = max(memory, compute)
    bound = NOTHING
    if least:
        bound = LAUNCH if least < roof.launch_seconds else MEMORY if memory >= compute else COMPUTE
    return Bounds(
        row.graph,
        row.kernel,
        row.kind,
        row.line,
        row.sure,
        row.unsure,
        heavy,
        scalar,
        dtype,
        peak,
        (heavy + scalar) / row.sure if row.sure else None,
        memory,
        compute,
        least,
        bound,
        0.0,
        None,
        "",
        None,
        row.is_symbolic,
        row.nodes,
        row.lines,
        OVER_LINKS if is_between else work.uncounted if work is not None else "",
    )


def _finished(row: Bounds, total: float, measured: CallTime | None) -> Bounds:
    seconds = measured.seconds if measured is not None else None
    return msgspec.structs.replace(
        row,
        share=row.least_seconds / total,
        measured_seconds=seconds,
        measured_by=measured.how if measured is not None else "",
        reached=row.least_seconds / seconds if seconds else None,
    )


def median_reached(rows: Iterable[Bounds]) -> float | None:
    """The median of `reached` over the launches that were measured."""
    known = sorted(row.reached for row in rows if row.reached is not None)
    if not known:
        return None
    middle = len(known) // 2
    return known[middle] if len(known) % 2 else (known[middle - 1] + known[middle]) / 2
