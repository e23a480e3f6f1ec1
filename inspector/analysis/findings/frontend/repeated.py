"""Lines that a trace went over again and again, so that a compile takes longer for each time: an unrolled Python loop,
or the layers of a model.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import ONCE, Finding
from inspect_compile.analysis.findings.frontend.alike import alike_kernels
from inspect_compile.analysis.findings.frontend.compile_times import CompileTimes
from inspect_compile.analysis.fusion.part import FindingSite
from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, Location
from inspect_compile.graph import CompiledGraph, grouped
from inspect_compile.knowledge.cost.sure import ESTIMATED
from inspect_compile.knowledge.overview.findings import LAYERS, UNROLLED, WORDS

_CALLS: Final = ("call_function", "call_method", "call_module")
_LEAST_TIMES: Final = 8
"""Fewer rounds of a loop are no finding."""
_LEAST_LAYERS: Final = 4
_LEAST_NODES: Final = 100
_LEAST_SHARE: Final = 0.5
"""Of the nodes of a trace."""
_OUTSIDE: Final = -1
_NUMBER: Final = re.compile(r"^\d+$")


class Repeated(NamedTuple):
    """What a trace went over several times."""

    lines: tuple[Location, ...]
    """Lines of one function, in the order of the file."""
    times: int
    nodes: int
    """Of Dynamo's graph, of all times together."""
    layers: str = ""
    """Path of the module that holds the layers, `transformer.h`; empty for a loop."""


class _Place(NamedTuple):
    """A line, as it was called in one way."""

    caller: int
    """The place of the line that called its function."""
    line: Location
    nodes: list[DynamoNode]
    """What was traced in it and in what it calls."""


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """One for each compile of which more than half is a repetition."""
    times = CompileTimes(dump)
    for compile_id in dict.fromkeys(graph.fact.compile_id for graph in graphs if graph.fact.compile_id is not None):
        nodes = [node for node in dump.rows_of_compile(DynamoNode, compile_id) if node.op in _CALLS]
        repeated = repetition(nodes)
        if repeated is None or repeated.nodes < _LEAST_SHARE * len(nodes):
            continue
        share = repeated.nodes / len(nodes)
        took = times.of(compile_id)
        kind = LAYERS if repeated.layers else UNROLLED
        alike = alike_kernels(dump, [graph for graph in graphs if graph.fact.compile_id == compile_id])
        kernels = (
            "" if alike is None else f"; {alike.several} of {alike.all} kernels are {alike.kinds} except for numbers"
        )
        holder = f"layers of {repeated.layers}" if repeated.layers else "iterations of the loop"
        yield Finding(
            kind=UNROLLED,
            graph=compile_id,
            what=WORDS[kind].what,
            parts=tuple(FindingSite("", "", line) for line in repeated.lines[:2]),
            seconds=None if took is None else took * share * (1 - 1 / repeated.times),
            when=ONCE,
            sure=ESTIMATED,
            is_bound=True,
            why=f"{repeated.times:,} {holder} make {share:.0%} of the {len(nodes):,} traced nodes{kernels}",
            to_do=WORDS[kind].to_do,
        )


def repetition(nodes: list[DynamoNode]) -> Repeated | None:
    """The outermost lines that most of the trace consists of several rounds of; None if there are none."""
    places: dict[tuple[int, str, int], int] = {}
    found: list[_Place] = []
    for node in nodes:
        place = _OUTSIDE
        for line in () if node.where is None else reversed(tuple(node.where.calls())):
            key = place, line.file, line.line
            if (place := places.setdefault(key, len(found))) == len(found):
                found.append(_Place(key[0], line, []))
            found[place].nodes.append(node)
    times = [_times(one.nodes) for one in found]
    inside: list[bool] = []
    for one in found:  # a line stands behind what calls it
        inside.append(one.caller != _OUTSIDE and (inside[one.caller] or times[one.caller] >= _LEAST_LAYERS))
    outermost = [place for place in range(len(found)) if times[place] >= _LEAST_LAYERS and not inside[place]]
    best: Repeated | None = None
    for (_, rounds), same in grouped(outermost, lambda place: (found[place].caller, times[place])).items():
        own = [node for place in same for node in found[place].nodes]
        layers, count = _layers(own, rounds)
        if len(own) < _LEAST_NODES or count < (_LEAST_LAYERS if layers else _LEAST_TIMES):
            continue
        if best is None or len(own) > best.nodes:
            lines = sorted((found[place].line for place in same), key=lambda line: line.line)
            best = Repeated(tuple(lines), count, len(own), layers)
    return best


def _times(nodes: list[DynamoNode]) -> int:
    """How often what is below a line was traced: as often as the rarest of it."""
    return min(Counter((node.where and (node.where.site, node.where.line), node.target) for node in nodes).values())


def _layers(nodes: list[DynamoNode], times: int) -> tuple[str, int]:
    """Path of the module whose numbered children the rounds are, and how many; a path that is empty if they are rounds
    of a loop. A loop within a layer makes more rounds of each.
    """
    children: dict[str, set[str]] = {}
    nodes_of: Counter[str] = Counter()
    for node in nodes:
        names = node.module.split(".")
        for place, name in enumerate(names):
            if _NUMBER.match(name):
                holder = ".".join(names[:place])
                children.setdefault(holder, set()).add(name)
                nodes_of[holder] += 1
    for holder, own in children.items():
        if nodes_of[holder] == len(nodes) and len(own) > 1 and times % len(own) == 0:
            return holder, len(own)
    return "", times
