"""Work that computes nothing: values that are moved to another place, order or memory layout.

A kernel may hold several scheduler nodes, of which some only move values: each of them is a finding of its own.
"""

from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from typing import Final, NamedTuple

from inspect_compile.analysis.findings.attention import composed
from inspect_compile.analysis.findings.costs import Costs, together
from inspect_compile.analysis.findings.finding import LEAST_BYTES, Finding
from inspect_compile.analysis.findings.joined import JOINS, Joins, is_call_of
from inspect_compile.analysis.findings.trials import setting_of, trial_of
from inspect_compile.analysis.fusion.part import FindingSite
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph, Node, Operation, Remark
from inspect_compile.graph import CompiledGraph, Id, Once, grouped
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.knowledge.frontend.operator_names import operator_name
from inspect_compile.knowledge.frontend.own_code import is_library
from inspect_compile.knowledge.overview.findings import (
    CONVOLUTION_JOINED,
    CONVOLUTION_LAST,
    CONVOLUTION_LAYOUT,
    COPY,
    EINSUM_COPY,
    INPUT_COPY,
    JOINING,
    JOINING_CALLS,
    LAYOUT,
    LIBRARY_COPY,
    LIBRARY_LAYOUT,
    PADDED_LAYOUT,
    PADDING,
    PADDING_BY_HAND,
    PRODUCT_COPY,
    WORDS,
)

_GENERATED: Final = ("cpp", "triton")
_MOVING: Final = frozenset({"clone", "cat", "constant_pad_nd", "repeat", "contiguous", "expand"})
"""Operators that a program can avoid, in the program's words."""
_LAYOUTS: Final = frozenset({"clone", "contiguous", "expand"})
"""Those of them that go if the values are made in another layout; the others are left, and move as much."""
_PADS: Final = "constant_pad_nd"
_INPUT: Final = "placeholder"
_CONVOLUTION: Final = "convolution"
_WEIGHT: Final = 1
"""Position of the weights among the inputs of a convolution."""
_PLANE: Final = 4
"""Axes from which on a tensor can be channels-last: those of a picture, not those of a `Conv1d`."""
_PICKING: Final = (
    "aten.index.",
    "aten._unsafe_index.",
    "aten.index_select",
    "aten.gather",
    "aten.embedding",
    "prims.rev",
)
"""Beginnings of operators that pick values, as a padding that repeats them does: what they make is no copy."""
_PRODUCTS: Final = ("aten.bmm", "aten.baddbmm")
"""Batched matrix products: they read and write one order of axes."""
_EINSUM: Final = "einsum"
_ATTENTION: Final = "_scaled_dot_product_"
"""In the names of the operators of its fused kernels."""
_CONSTANT: Final = "aten.full."
_PADDED: Final = "padded-matmul"
"""The code of remarks about matrix products with sizes that the device is slower with."""
_ALIGNED: Final = "padded-strides"
"""The code of remarks about buffers whose rows Inductor has made longer, so that each begins at an aligned address."""
_VIEWS: Final = ("aten.view.", "aten.reshape.", "aten._unsafe_view.")


class _Purpose(NamedTuple):
    """What values are moved for."""

    kind: str
    words: str
    """The key of its WORDS."""
    part: FindingSite
    why: str = ""
    less: int = 0
    """Bytes by which what is advised saves less than the values that are moved."""
    knob: str = ""
    """A setting that may change it."""


class Copy(NamedTuple):
    """A scheduler node that only moves values, and that a program can do without."""

    launch: Launch
    row: Operation
    purpose: _Purpose
    saved: int
    """Bytes that the launch would no longer move."""

    @property
    def is_whole(self) -> bool:
        """True if the launch is no longer made, and nothing in its place."""
        return len(self.launch.groups) == 1 and not self.purpose.less


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """One for each FX node for which scheduler nodes only move values: the parts of a `cat` are moved by one each."""
    for graph in graphs:
        moved = graph.traffic
        for same in grouped(avoidable(graph), _what_for).values():
            launch, _, purpose, _ = same[0]
            cost = together(
                costs.of_launch(one.launch) if one.is_whole else costs.of_bytes(one.saved, [one.launch]) for one in same
            )
            yield Finding(
                kind=purpose.kind,
                graph=launch.graph,
                what=WORDS[purpose.words].what,
                parts=(purpose.part,),
                seconds=cost.seconds,
                sure=cost.sure,
                calls=cost.timed,
                bytes=sum(one.saved for one in same),
                is_bound=any(moved.of(one.launch).unsure > 0 for one in same),
                why=purpose.why,
                to_do=WORDS[purpose.words].to_do,
                knob=purpose.knob,
                trial=trial_of(graph, purpose.knob),
                names=(launch.kernel.name,),
                buffers=tuple(buffer for one in same for buffer in one.row.buffers),
            )


def _what_for(copy: Copy) -> tuple[object, ...]:
    """Equal for what one FX node leads to; each copy for a library call is one of its own, as that may have several."""
    place = Id(copy.launch.graph, copy.purpose.part.node)
    return (*place, copy.row.name) if copy.purpose.kind == LAYOUT else place


@Once
def avoidable(graph: CompiledGraph) -> tuple[Copy, ...]:
    """Those of a graph, nested graphs included."""
    return tuple(_Copies(graph).avoidable())


def _padded(dump: Dump, compile_id: str | None) -> dict[tuple[str, int], str]:
    """File and line of each matrix product of a compile that torch padded → what it said of that."""
    rows = dump.rows_of_compile(Remark, compile_id)
    return {
        (row.place.file, row.place.line): row.message
        for row in rows
        if row.code == _PADDED and row.kind == "passed" and row.place is not None
    }


def _aligned(dump: Dump, graphs: Iterable[str]) -> dict[Id, Remark]:
    """(graph, buffer) → what torch's padding made of it."""
    rows = (row for graph in graphs for row in dump.rows(Remark, graph))
    return {Id(row.graph, row.ids[0]): row for row in rows if row.code == _ALIGNED and row.ids}


def _given(dump: Dump, backward: Graph) -> dict[str, Node]:
    """The inputs of a backward graph's forward graph, by their names: what is saved of weights may be a copy."""
    graphs = dump.graphs_of_compile(backward.compile_id) if backward.compile_id is not None else []
    rows = (row for graph in graphs if graph.kind == "forward" for row in dump.rows(Node, graph.graph))
    return {row.name: row for row in rows if row.op == _INPUT and row.values}


class _Copies:
    """The scheduler nodes of one graph, nested graphs included, that only move values."""

    def __init__(self, graph: CompiledGraph) -> None:
        self._moved = graph.traffic
        self._is_backward = graph.fact.kind == "backward"
        calls = [row for row in self._moved.groups.after.values() if row.kind == "extern" and row.nodes]
        self._readers = {Id(row.graph, one.buffer): row for row in reversed(calls) for one in row.reads}
        """(graph, buffer) → the first library call that reads it."""
        self._makers = {Id(row.graph, buffer): row for row in calls for buffer in row.buffers}
        self._padded = _padded(graph.dump, graph.fact.compile_id)
        self._given = _given(graph.dump, graph.fact) if self._is_backward else {}
        self._aligned = _aligned(graph.dump, {row.graph for row in self._moved.groups.after.values()})
        self._all_makers = {
            Id(row.graph, name): row for row in self._moved.groups.after.values() for name in row.buffers
        }
        self._attention = composed.nodes_of(graph)

    @cached_property
    def _joins(self) -> Joins:
        return Joins(self._moved.groups.nodes)

    def avoidable(self) -> Iterator[Copy]:
        """Those that a program can do without."""
        for launch, row in self._all():
            purpose = self._purpose(row)
            if purpose is not None and (saved := self._saved(launch, row) - purpose.less) >= LEAST_BYTES:
                yield Copy(launch, row, purpose, saved)

    def _all(self) -> Iterator[tuple[Launch, Operation]]:
        for launch in self._moved.launches:
            if launch.kernel.kind in _GENERATED and launch.line is not None:
                rows = (self._moved.groups.after.get(Id(launch.graph, name)) for name in launch.groups)
                computes = set(launch.kernel.computes)
                yield from (
                    (launch, row)
                    for row in rows
                    if row is not None and (computes.isdisjoint(row.nodes) or self._joins_inputs(row))
                )

    def _joins_inputs(self, row: Operation) -> bool:
        """True for the part of a `cat` that copies an input, though another part is computed: all of them have the FX
        nodes of each.
        """
        node = self._node(row, row.nodes[-1]) if row.nodes else None
        return node is not None and is_call_of(node, JOINS) and self._is_of_inputs(row, node.inputs)

    def _saved(self, launch: Launch, row: Operation) -> int:
        """What the launch would no longer move: what it moves, less what its other scheduler nodes do."""
        rows = (self._moved.groups.after.get(Id(launch.graph, name)) for name in launch.groups if name != row.name)
        others = [other for other in rows if other is not None]
        left = self._moved.groups.sums(others, launch.kernel.kind, launch.kernel.name).rows() if others else []
        return max(0, self._moved.of(launch).least - sum(one.read + one.written for one in left))

    def _purpose(self, row: Operation) -> _Purpose | None:
        """None if nobody can do without it: of what a backward graph moves, autograd chose all but the layouts of
        convolutions.
        """
        reader = next(filter(None, (self._readers.get(Id(row.graph, name)) for name in row.buffers)), None)
        maker = next(filter(None, (self._makers.get(Id(row.graph, one.buffer)) for one in row.reads)), None)
        if reader is not None and (remark := self._padded_source(row)) is not None:
            knob = setting_of(remark)
            why = remark.message.partition(" of ")[2]  # without the buffer, which is another one in each layer
            return _Purpose(LAYOUT, PADDED_LAYOUT, self._part(reader, reader.nodes[-1]), why, knob=knob)
        moving = [part for name in reversed(row.nodes) if (part := self._part(row, name)).operator in _MOVING]
        own = next((part for part in moving if part.operator not in _LAYOUTS), next(iter(moving), None))
        if own is None:
            if reader is None or self._picks(row):
                return None
            wants = self._part(reader, reader.nodes[-1])
            is_convolution = _CONVOLUTION in wants.operator
            if self._is_backward and not is_convolution:
                return None
            if is_convolution and self._axes(reader) >= _PLANE:
                return self._of_convolution(row, reader, wants)
            is_inside = wants.where is not None and is_library(wants.where.file)
            return _Purpose(LAYOUT, LIBRARY_LAYOUT if is_inside else LAYOUT, wants)
        if self._is_backward or Id(row.graph, own.node) in self._attention or self._is_for_attention(row, own, reader):
            return None
        where = own.where
        if where is not None and own.operator == _PADS and (where.file, where.line) in self._padded:
            return _Purpose(PADDING, PADDING, own, self._padded[where.file, where.line])
        is_librarys = where is not None and is_library(where.file)
        if own.operator == JOINS and not is_librarys:
            return self._of_join(row, own)
        if any(call is not None and self._is_product(call) for call in (reader, maker)):
            is_einsum = where is not None and _EINSUM in where.code
            return _Purpose(COPY, EINSUM_COPY if is_einsum else PRODUCT_COPY, own)
        if is_librarys:
            return _Purpose(COPY, LIBRARY_COPY, own)
        return _Purpose(COPY, INPUT_COPY if self._is_of_inputs(row) else COPY, own)

    def _padded_source(self, row: Operation) -> Remark | None:
        """What is said of the buffer whose padding alone makes this copy: another view of it would be none, if its rows
        were dense.
        """
        reads = [one for one in row.reads if one.kind != "weak"]
        if len(reads) != 1 or (remark := self._aligned.get(Id(row.graph, reads[0].buffer))) is None:
            return None
        maker = self._all_makers.get(Id(row.graph, reads[0].buffer))
        done = set() if maker is None else set(maker.nodes)
        own = [self._node(row, name) for name in row.nodes if name not in done]
        return remark if own and all(node is not None and node.target.startswith(_VIEWS) for node in own) else None

    def _is_for_attention(self, row: Operation, own: FindingSite, reader: Operation | None) -> bool:
        """True if a fused kernel of attention reads the copy, and could not read what is copied: it takes tensors whose
        last axis is contiguous.
        """
        node, call = self._node(row, own.node), None if reader is None else self._node(reader, reader.nodes[-1])
        if node is None or call is None or _ATTENTION not in call.target:
            return False
        sources = [self._node(row, name) for name in node.inputs[:1]]
        strides = [value.stride for source in sources if source is not None for value in source.values]
        return any(stride and stride[-1] != 1 for stride in strides)

    def _of_join(self, row: Operation, own: FindingSite) -> _Purpose:
        if self._pads(row, own):
            return _Purpose(COPY, PADDING_BY_HAND, own)
        node = self._node(row, own.node)
        more = 0 if node is None else self._joins.added(node)
        if node is not None and (self._joins.is_of_calls(node) or (more and self._joins.is_of_inputs(node))):
            return _Purpose(COPY, JOINING_CALLS, own)
        return _Purpose(COPY, JOINING, own, less=more)

    def _of_convolution(self, row: Operation, call: Operation, wants: FindingSite) -> _Purpose:
        node = self._node(call, call.nodes[-1])
        joined = None if node is None or self._is_of_inputs(row) else self._joins.before(node)
        if joined is not None and joined.is_kept:
            return _Purpose(LAYOUT, CONVOLUTION_JOINED, wants, less=joined.less)
        return _Purpose(LAYOUT, CONVOLUTION_LAST if self._is_last(call) else CONVOLUTION_LAYOUT, wants)

    def _is_of_inputs(self, row: Operation, among: Container[str] | None = None) -> bool:
        """True if all that it reads are inputs of the graph, and arguments `among` those of a node."""
        nodes = [self._node(row, one.buffer) for one in row.reads]
        return bool(nodes) and all(
            node is not None and node.op == _INPUT and (among is None or node.name in among) for node in nodes
        )

    def _picks(self, row: Operation) -> bool:
        nodes = (self._node(row, name) for name in row.nodes)
        return any(node is not None and node.target.startswith(_PICKING) for node in nodes)

    def _axes(self, call: Operation) -> int:
        """The most axes of a result of the call; 0 if none is known."""
        node = self._node(call, call.nodes[-1])
        return 0 if node is None else max((len(value.size) for value in node.values), default=0)

    def _pads(self, row: Operation, join: FindingSite) -> bool:
        """True if a part of a `cat` of two is a constant."""
        node = self._node(row, join.node)
        parts = [] if node is None else [self._node(row, name) for name in node.inputs]
        return len(parts) == 2 and any(one is not None and one.target.startswith(_CONSTANT) for one in parts)

    def _is_last(self, call: Operation) -> bool:
        """True if a convolution's weights are channels-last: then the model is."""
        node = self._node(call, call.nodes[-1])
        place = _WEIGHT if node is None or is_call_of(node, _CONVOLUTION) else _WEIGHT + 1  # behind the gradient
        weight = self._node(call, node.inputs[place]) if node is not None and len(node.inputs) > place else None
        weight = None if weight is None else self._given.get(weight.name, weight)
        if weight is None or weight.op != _INPUT or not weight.values:
            return False
        size, stride = weight.values[0].size, weight.values[0].stride
        return len(size) == len(stride) == _PLANE and stride[1] == 1 != size[1] and stride[3] != 1

    def _is_product(self, call: Operation) -> bool:
        node = self._node(call, call.nodes[-1])
        return node is not None and node.target.startswith(_PRODUCTS)

    def _node(self, row: Operation, name: str) -> Node | None:
        return self._moved.groups.nodes.get(Id(row.graph, name))

    def _part(self, row: Operation, name: str) -> FindingSite:
        node = self._node(row, name)
        if node is None:
            return FindingSite(name, "", None)
        return FindingSite(name, operator_name(node.original_aten or node.target), node.where)
