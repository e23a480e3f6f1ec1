"""For each launch: its modules, source lines and operators, and what one call of it moves and computes."""

from collections.abc import Callable
from typing import Final, Literal

import msgspec

from inspect_compile.analysis.cost.flops import HEAVY, operator
from inspect_compile.dump import Dump
from inspect_compile.facts import Location, Lowering
from inspect_compile.graph import CompiledGraph, Id, Once
from inspect_compile.graph.cost.kernel_traffic import KernelTraffic
from inspect_compile.graph.kernels.launches import Launch

By = Literal["line", "module", "kernel", "op"]
BY: Final[tuple[By, ...]] = ("line", "module", "kernel", "op")


class LaunchOrigin(msgspec.Struct, frozen=True):
    """One launch: its origin in the program, and what one call of it moves and computes."""

    launch: Launch
    modules: tuple[str, ...]
    lines: tuple[Location, ...]
    operators: tuple[str, ...]
    traffic: KernelTraffic
    flops: int
    dtype: str
    """Type of the result of its matmul or convolution."""


WHAT: Final[dict[By, Callable[[LaunchOrigin], tuple[str, ...]]]] = {
    "line": lambda origin: tuple(f"{at.file}:{at.line}" for at in origin.lines),
    "module": lambda origin: origin.modules,
    "kernel": lambda origin: (origin.launch.kernel.name,),
    "op": lambda origin: origin.operators,
}
"""What launches can be summed up by."""


def lines_of(by: By, origin: LaunchOrigin) -> tuple[Location, ...]:
    """The lines that a sum is for, with the calls that led to them; empty if it is for something else."""
    return origin.lines if by == "line" else ()


@Once
def _heavy(graph: CompiledGraph) -> dict[Id, int]:
    """The FLOPs of the nodes that have a formula of their own."""
    return {Id(row.graph, row.node): row.flops for row in graph.rows(Lowering) if row.flops_kind in HEAVY}


class LaunchOrigins:
    """The origins of a dump's launches, each computed once."""

    def __init__(self, dump: Dump) -> None:
        self._dump = dump
        self._made: dict[int, LaunchOrigin] = {}

    def of(self, launch: Launch) -> LaunchOrigin:
        """The origin of `launch`."""
        found = self._made.get(id(launch))
        if found is None:
            found = self._made[id(launch)] = self._make(launch)
        return found

    def _make(self, launch: Launch) -> LaunchOrigin:
        graph = CompiledGraph(self._dump, launch.graph).outermost
        known, flops = graph.node_of, _heavy(graph)
        nodes = [node for name in launch.nodes if (node := known.get(Id(launch.graph, name))) is not None]
        computing = [node for node in nodes if node.op == "call_function"]
        heavy = [node for node in nodes if Id(launch.graph, node.name) in flops]
        is_own = launch.kernel.kind in ("extern", "template")
        return LaunchOrigin(
            launch,
            tuple(dict.fromkeys(node.module for node in nodes)),
            tuple({(at.file, at.line): at for node in nodes if (at := node.where) is not None}.values()),
            tuple(dict.fromkeys(operator(node.original_aten or node.target) for node in computing)),
            graph.traffic.of(launch),
            sum(flops[Id(launch.graph, node.name)] for node in heavy) if is_own else 0,
            heavy[0].values[0].dtype if heavy and heavy[0].values else "",
        )
