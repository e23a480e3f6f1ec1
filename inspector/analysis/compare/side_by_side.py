"""Two or more compiles of a program beside each other: of each graph and kernel what every side has and what it costs.

Sides are two dumps, a graph and its replay, or ranks. The first one is what the others are held against.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from inspect_compile.analysis.compare.beside_target import comparable_kernels
from inspect_compile.analysis.compare.content import Content, GraphContent, content
from inspect_compile.analysis.compare.pairing import Pairing, matched
from inspect_compile.analysis.kernels.launch_times import measured
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph, Graphs, Id, grouped
from inspect_compile.graph.kernels.launches import distinct


class KernelSide(msgspec.Struct, frozen=True):
    """A kernel, or all kernels of a graph, on one side: sums over all launches of one call of the graph."""

    graph: str
    kernel: str
    """Empty for all kernels of the graph."""
    kernels: int
    launches: int
    bytes: int
    """Bytes read and written, as far as known."""
    seconds: float | None
    """Measured; None if not all of its launches were."""


class SideRow(msgspec.Struct, frozen=True, tag_field="fact", tag="side_by_side"):
    """A graph or a kernel on all sides. `diff --kernels --json` prints these."""

    graph: str
    """On the first side that has it."""
    kernel: str
    """The same; empty for all kernels of the graph."""
    is_same: bool
    """All sides have it, with the same source."""
    names: tuple[str, ...]
    """Of the sides."""
    sides: tuple[KernelSide | None, ...]
    """None where there is no counterpart."""


class Side(NamedTuple):
    """One of the compiles."""

    name: str
    dump: Dump


class _Kernel(NamedTuple):
    side: KernelSide
    source: str
    origins: frozenset[str]
    """What it computes: operators, with the text of their source lines, which may have moved."""


def side_by_side(sides: Sequence[Side]) -> list[SideRow]:
    """For each graph a row for all its kernels, then one for each kernel: those that differ first."""
    contents = comparable_kernels([_content(side.dump) for side in sides])
    names = tuple(side.name for side in sides)
    found: list[SideRow] = []
    for graphs in _matched(contents):
        kernels = [
            {} if graph is None else _kernels(side.dump, graph) for side, graph in zip(sides, graphs, strict=True)
        ]
        rows = [_row(names, one) for one in _matched_kernels(kernels)]
        sums = tuple(
            None if graph is None else launches_of(side.dump, graph.graph)
            for side, graph in zip(sides, graphs, strict=True)
        )
        graph = next(one.graph for one in sums if one is not None)
        found.append(SideRow(graph, "", all(row.is_same for row in rows) and None not in sums, names, sums))
        found += sorted(rows, key=lambda row: row.is_same)
    return found


def _content(dump: Dump) -> Content:
    """What was compiled; of a replay only the graph that it is of."""
    found = content(dump)
    if not dump.run.replay_of:
        return found
    of = tuple(one for one in found.graphs if one.graph == dump.run.replay_of)
    return Content((), of, (), found.target, dump=dump)


def _matched(contents: Sequence[Content]) -> Iterator[tuple[GraphContent | None, ...]]:
    """Each graph of the first side with its counterparts, then those that the first does not have."""
    first = contents[0]
    pairs = [Pairing(first, other).graphs for other in contents[1:]]
    others = [{pair.a.graph: pair.b for pair in found if pair.a is not None} for found in pairs]
    is_part = any(len(other.graphs) == 1 and not other.frames for other in contents[1:])  # replays of one graph
    for graph in first.graphs:
        beside = [own.get(graph.graph) for own in others]
        if not is_part or any(beside):
            yield graph, *beside
    for index, found in enumerate(pairs, 1):
        for pair in found:
            if pair.a is None:
                yield tuple(pair.b if place == index else None for place in range(len(contents)))


def _kernels(dump: Dump, graph: GraphContent) -> dict[str, _Kernel]:
    """The kernels of a graph by name."""
    moved = CompiledGraph(dump, graph.graph).traffic
    times = measured(Graphs(dump, graph.graph))
    launches = grouped(moved.launches, lambda launch: launch.kernel.name)
    found = {}
    for name, source in zip(graph.kernel_names, graph.kernels, strict=True):
        own = launches.get(name, [])
        took = [times.get((launch.graph, name, launch.line)) for launch in own]
        seconds = [one.milliseconds / 1e3 for one in took if one is not None]
        nodes = (moved.groups.nodes.get(Id(launch.graph, node)) for launch in own for node in launch.nodes)
        origins = frozenset(f"{node.target} {'' if node.where is None else node.where.code}" for node in nodes if node)
        size = sum(moved.of(launch).least for launch in own)
        known = sum(seconds) if own and len(seconds) == len(own) else None
        found[name] = _Kernel(KernelSide(graph.graph, name, 1, len(own), size, known), source, origins)
    return found


def launches_of(dump: Dump, graph: str) -> KernelSide:
    """All launches of a graph together."""
    moved, times = CompiledGraph(dump, graph).traffic, measured(Graphs(dump, graph))
    took = [times.get((launch.graph, launch.kernel.name, launch.line)) for launch in moved.launches]
    seconds = [one.milliseconds / 1e3 for one in took if one is not None]
    kernels = len(distinct(launch.kernel for launch in moved.launches))
    is_timed = bool(seconds) and len(seconds) == len(took)
    return KernelSide(graph, "", kernels, len(took), moved.moved, sum(seconds) if is_timed else None)


def _matched_kernels(kernels: Sequence[dict[str, _Kernel]]) -> Iterator[tuple[_Kernel | None, ...]]:
    """Each kernel of the first side with its counterparts, then the others."""
    first = kernels[0]
    pairs = [_pairs(first, other) for other in kernels[1:]]
    for name, kernel in first.items():
        yield kernel, *(other.get(own.get(name, "")) for own, other in zip(pairs, kernels[1:], strict=True))
    for index, (own, other) in enumerate(zip(pairs, kernels[1:], strict=True), 1):
        taken = set(own.values())
        for name, kernel in other.items():
            if name not in taken:
                yield tuple(kernel if place == index else None for place in range(len(kernels)))


def _pairs(ours: dict[str, _Kernel], theirs: dict[str, _Kernel]) -> dict[str, str]:
    """Kernel → its counterpart: one with the same source, else the one that computes most of the same."""
    same = matched(ours.values(), theirs.values(), lambda kernel: kernel.source)
    found = {one.side.kernel: other.side.kernel for one, other in same.pairs}
    free = {kernel.side.kernel: kernel for kernel in same.only_b}
    scores = [
        (len(kernel.origins & one.origins) / len(kernel.origins | one.origins), name, other)
        for name, kernel in ours.items()
        if name not in found
        for other, one in free.items()
        if kernel.origins & one.origins
    ]
    for _, name, other in sorted(scores, key=lambda score: -score[0]):
        if name not in found and other in free:
            found[name] = other
            del free[other]
    return found


def _row(names: tuple[str, ...], kernels: tuple[_Kernel | None, ...]) -> SideRow:
    known = [one for one in kernels if one is not None]
    is_same = len(known) == len(kernels) and len({one.source for one in known}) == 1
    sides = tuple(None if one is None else one.side for one in kernels)
    return SideRow(known[0].side.graph, known[0].side.kernel, is_same, names, sides)
