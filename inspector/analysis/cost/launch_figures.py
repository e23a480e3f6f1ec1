"""What is known of each launch as one number: what pictures are coloured by, and what other tools are given."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from inspect_compile.analysis.cost.kernel_work import launch_work
from inspect_compile.analysis.cost.roofline import roofline
from inspect_compile.analysis.cost.roofs import roof_of
from inspect_compile.analysis.kernels.launch_times import Key, measured
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.kernels.binaries import configurations, of_kernel, of_kernels


class Figures(NamedTuple):
    """One number for each launch of a graph; launches of which it is not known have none."""

    of: Mapping[Key, float]
    what: str
    """What the numbers are, in words."""


def moved(graph: CompiledGraph) -> Figures:
    """Bytes that each launch reads and writes."""
    traffic = graph.traffic
    found = {one.key: float(traffic.of(one).least) for one in traffic.launches if traffic.of(one).is_known}
    return Figures(found, "bytes read and written, each element once")


def computed(graph: CompiledGraph) -> Figures:
    """FLOPs of matmuls, convolutions and attention, and other scalar operations."""
    found = {key: float(work.heavy + work.scalar) for key, work in launch_work(graph).items()}
    return Figures(found, "FLOPs")


def took(graph: CompiledGraph) -> Figures:
    """Seconds: measured; without any, what the roofline says that it takes at least."""
    found = {key: row.milliseconds / 1000 for key, row in measured(graph).items()}
    roof = roof_of(graph.dump) if not found else None
    if roof is None:
        return Figures(found, "measured time")
    found = {(row.graph, row.kernel, row.line): row.least_seconds for row in roofline(graph, roof)}
    return Figures(found, "least time, by the roofline of the device (not measured)")


def registers(graph: CompiledGraph) -> Figures:
    """Registers of the configuration of each Triton kernel that runs."""
    known = of_kernels(configurations(graph))
    found = {}
    for one in graph.launches:
        rows = of_kernel(known, one.graph, one.kernel.name)
        if rows and rows[0].registers is not None:
            found[one.key] = float(rows[0].registers)
    return Figures(found, "registers of a thread")


FIGURES: Final[dict[str, Callable[[CompiledGraph], Figures]]] = {
    "bytes": moved,
    "flops": computed,
    "time": took,
    "registers": registers,
}
"""Name → figures of a graph, nested graphs included."""
