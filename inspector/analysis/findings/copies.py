"""Kernels that compute nothing: they move values to another place or order in memory."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.cost.kernel_traffic import launch_traffic
from inspect_compile.analysis.dumps.rows import lowered_by_name
from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.fusion.misses import Part
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph
from inspect_compile.knowledge.frontend.operator_names import operator_name
from inspect_compile.knowledge.overview.findings import COPY, WORDS

_GENERATED: Final = ("cpp", "triton")
_MOVING: Final = frozenset({"clone", "cat", "constant_pad_nd", "repeat", "contiguous", "expand"})
"""Operators that a program can avoid, in the program's words."""


def found(dump: Dump, graphs: list[Graph], costs: Costs) -> Iterator[Finding]:
    """One for each launch of such a kernel."""
    for graph in graphs:
        moved = launch_traffic(dump, graph.graph)
        nodes = lowered_by_name(dump, graph.graph)
        for launch in moved.launches:
            if launch.kernel.kind not in _GENERATED or launch.kernel.computes or launch.line is None:
                continue
            rows = [nodes[launch.graph, name] for name in launch.nodes if (launch.graph, name) in nodes]
            named = [(operator_name(row.original_aten or row.target), row) for row in rows]
            parts = tuple(Part(row.name, name, row.where) for name, row in named if name in _MOVING)
            traffic = moved.of(launch)
            if not parts or not traffic.read:
                continue
            cost = costs.of_launch(launch)
            yield Finding(
                kind=COPY,
                graph=launch.graph,
                what=WORDS[COPY].what,
                parts=parts[-2:],
                seconds=cost.seconds,
                sure=cost.sure,
                bytes=traffic.least,
                is_bound=traffic.unsure > 0,
                to_do=WORDS[COPY].to_do,
                names=(launch.kernel.name,),
            )
