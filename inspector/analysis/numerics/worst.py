"""The worst result of each launch and of each buffer, over all checked calls of a graph."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from inspect_compile.analysis.numerics.verdicts import Judged, judged
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.knowledge.numerics.verdicts import VERDICTS

_ORDER: Final = {name: position for position, name in enumerate(VERDICTS)}


class Worst(NamedTuple):
    """The worst results; names are unique within a graph, of which nested ones have their own."""

    calls: int
    """Number of checked calls."""
    of_buffer: dict[Id, Judged]
    """Graph and buffer."""
    of_value: dict[tuple[str, str, str], Judged]
    """Graph, buffer, and the FX node whose value it held: an input can be changed in place several times."""
    of_launch: dict[tuple[str, str, int | None], Judged]
    """Graph, kernel, and line of output_code.py."""
    of_pass: tuple[Judged, ...]
    """Results of the graph that were compared before and after its passes."""


def worst(graph: CompiledGraph) -> Worst:
    """Of `graph` and its nested graphs."""
    rows = list(judged(graph))
    buffers: dict[Id, list[Judged]] = {}
    values: dict[tuple[str, str, str], list[Judged]] = {}
    launches: dict[tuple[str, str, int | None], list[Judged]] = {}
    for row in rows:
        if not row.level:
            buffers.setdefault(Id(row.graph, row.buffer), []).append(row)
            values.setdefault((row.graph, row.buffer, row.node), []).append(row)
            launches.setdefault((row.graph, row.kernel, row.line), []).append(row)
    return Worst(
        len({(row.graph, row.call) for row in rows}),
        {key: worst_of(found) for key, found in buffers.items()},
        {key: worst_of(found) for key, found in values.items()},
        {key: worst_of(found) for key, found in launches.items()},
        tuple(row for row in rows if row.level),
    )


def worst_of(rows: Iterable[Judged]) -> Judged:
    """The one with the worst verdict, of several the one that is furthest off; at least one is given."""
    return min(rows, key=lambda row: (_ORDER[row.verdict], -(row.times_rounding or 0.0)))
