"""Inputs that are written into at a few places, and copied as a whole for it.

Inductor writes in place what one assignment puts into a slice, and what any number of assignments put at indices. Where
a slice is one of several writes, it makes a new tensor of the whole input, and copies that back.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import LEAST_BYTES, Finding
from inspect_compile.analysis.fusion.part import FindingSite
from inspect_compile.dump import Dump
from inspect_compile.facts import Node, Operation
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.graph.cost.kernel_traffic import LaunchTraffic
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.knowledge.frontend.operator_names import operator_name
from inspect_compile.knowledge.overview.findings import MUTATION, WORDS

_COPIES_BACK: Final = "aten.copy_."
_SLICES: Final = ("aten.slice_scatter.", "aten.select_scatter.")
_INDICES: Final = ("aten.index_put", "aten.scatter.", "aten.scatter_.", "aten.index_copy")
_INPUT: Final = "placeholder"
_SEVERAL: Final = 2


class _Written(NamedTuple):
    """An input of a graph, and the writes that make what is copied back to it, the last one first."""

    given: Node
    writes: tuple[Node, ...]
    back: Node


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """One for each input that is copied as a whole because a slice of it is one of several writes."""
    for graph in graphs:
        moved, before = graph.traffic, graph.operations
        for written in _written(moved.groups.nodes):
            names = {written.back.name, *(node.name for node in written.writes)}
            launches = [
                one for one in moved.launches if one.graph == written.back.graph and not names.isdisjoint(one.nodes)
            ]
            saved = _moved(moved, before, launches, written) - _needed(written, moved.groups.nodes)
            if saved < LEAST_BYTES:
                continue
            cost = costs.of_bytes(saved, launches)
            slices = [node for node in reversed(written.writes) if node.target.startswith(_SLICES)]
            yield Finding(
                kind=MUTATION,
                graph=graph.name,
                what=WORDS[MUTATION].what,
                parts=tuple(FindingSite(node.name, operator_name(node.target), node.where) for node in slices[:2]),
                seconds=cost.seconds,
                sure=cost.sure,
                calls=cost.timed,
                bytes=saved,
                why=f"{len(written.writes)} writes into an input of {(written.given.values[0].bytes or 0):,} bytes, of "
                f"which {len(slices)} {'is a slice' if len(slices) == 1 else 'are slices'}: torch writes a slice"
                f" in place only if it is the only write",
                to_do=WORDS[MUTATION].to_do,
                names=(launches[0].kernel.name,),
                buffers=(written.given.name,),
            )


def _written(nodes: Mapping[Id, Node]) -> Iterator[_Written]:
    for back in nodes.values():
        if not back.target.startswith(_COPIES_BACK) or len(back.inputs) != _SEVERAL:
            continue
        given, node = (nodes.get(Id(back.graph, name)) for name in back.inputs)
        writes = []
        while node is not None and node.target.startswith((*_SLICES, *_INDICES)) and node.inputs:
            writes.append(node)
            node = nodes.get(Id(back.graph, node.inputs[0]))
        if given is None or node is not given or given.op != _INPUT or not given.values or len(writes) < _SEVERAL:
            continue  # behind a view an index would be no better
        if any(one.target.startswith(_SLICES) for one in writes):
            yield _Written(given, tuple(writes), back)


def _moved(moved: LaunchTraffic, before: list[Operation], launches: list[Launch], written: _Written) -> int:
    """What these launches move of the input and of what takes its place."""
    names = {written.back.name, *(node.name for node in written.writes)}
    own = {buffer for row in before if row.nodes and row.nodes[-1] in names for buffer in row.buffers}
    own.add(written.given.name)
    traffic = [one for launch in launches for one in moved.of(launch).buffers if one.buffer in own]
    return sum(one.read + one.written for one in traffic)


def _needed(written: _Written, nodes: Mapping[Id, Node]) -> int:
    """What writing in place moves: each value is read where it is, and written."""
    values = [nodes.get(Id(node.graph, node.inputs[-1])) for node in written.writes]
    return 2 * sum(value.bytes or 0 for node in values if node is not None for value in node.values)
