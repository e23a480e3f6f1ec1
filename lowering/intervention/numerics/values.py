"""Which buffer of the generated code holds the value of which FX node, read from the IR that each node was lowered to.

A buffer that no node's result is alone, such as a stage of a split reduction, is a step of a node's lowering. It gets
a node of its own, which computes its loops.
"""

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from inspect_compile.lowering.core.nested_graphs import nested_graphs
from inspect_compile.lowering.intervention.numerics.arguments import copied_arguments, has_form
from inspect_compile.lowering.intervention.numerics.graphs import peeled
from inspect_compile.lowering.intervention.numerics.graphs.nodes import (
    changed_values,
    has_collectives,
    has_own_value,
    inputs_of,
    is_order,
    is_uninitialized,
    results_of,
)
from inspect_compile.lowering.intervention.numerics.graphs.shared import changes_nothing
from inspect_compile.lowering.intervention.numerics.steps.extended import extended, node_of, sources_of, steps_of


@dataclass
class Lowered:
    """What the lowering of one graph left behind, as it went on: strong references, dropped once the code is loaded."""

    results: list[tuple[str, Any]] = field(default_factory=list)
    """FX node and its IR, in graph order."""
    makers: dict[str, str] = field(default_factory=dict)
    """Operation → the FX node whose lowering made it."""
    constants: dict[str, Any] = field(default_factory=dict)
    """Attribute of the graph → what it was: a template that packs a weight deletes it there."""


class View(NamedTuple):
    """Size, stride and offset in a buffer's memory, counted in elements from its start."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class Plan:
    """The values of one graph's buffers; names, apart from the FX graph."""

    graph: str
    module: torch.fx.GraphModule
    """The post-grad graph, with the nodes of steps."""
    nodes: dict[str, str]
    """Buffer or input → the FX node whose value it holds once it is written."""
    views: dict[str, View]
    """How to look at a buffer to see the value of its node, where the buffer has other sizes or strides."""
    makers: dict[str, str]
    """Buffer → the FX node whose lowering made it."""
    written_by: dict[str, str]
    """Buffer → operation."""
    reads: dict[str, frozenset[str]]
    """Operation → the buffers that it reads."""
    mutates: dict[str, dict[str, str]]
    """Operation → the buffers that it changes in place, each with the FX node that has the value afterwards."""
    assembled: frozenset[str]
    """Buffers that no launch writes as a whole: others are views of them."""
    outputs: tuple[str, ...]
    """Buffers of the graph's results, in their order; empty for one that is no tensor."""
    positions: dict[str, int]
    """Operation → its position among the graph's operations."""
    dropped: frozenset[str]
    """Buffers that have memory, which another has before them, and that no kernel writes: its own code alone reads
    them.
    """
    parts: dict[str, tuple[tuple[str, tuple[Any, ...]], ...]]
    """Buffer of a call of an operator → the buffers of its results, each with the indices that lead to it."""
    steps: dict[str, frozenset[str]]
    """Node of a step → the nodes that it is computed from."""
    inputs: dict[str, str]
    """Variable of an input → its node."""
    nested: dict[str, dict[str, "Plan"]]
    """Node that calls nested graphs → the attribute with each of them → its plan."""

    @functools.cached_property
    def is_part(self) -> frozenset[str]:
        """The buffers in `parts`: no launch names one before it has its value."""
        return frozenset(part for found in self.parts.values() for part, _ in found)

    @functools.cached_property
    def compared(self) -> frozenset[str] | None:
        """The nodes whose values a check looks at; None if it may be all. The others lie inside of kernels: in fp64
        they are computed from these, and of their own values the dtype is enough.
        """
        if not changes_nothing(self.module, but_inputs=True):
            return None  # a value that is changed later is kept as it was, as long as it is looked for
        nodes = self.module.graph.nodes
        changed = {node for changes in self.mutates.values() for node in changes.values()}
        changed |= {node.name for node in nodes if node.op == "call_function" and changed_values(node)}
        results = {one.name for one in results_of(self.module) if isinstance(one, torch.fx.Node)}
        needed = {node.name for node in nodes if has_own_value(node)}
        return frozenset({*self.nodes.values(), *changed, *results, *needed, *self.steps})

    @functools.cached_property
    def uninitialized(self) -> frozenset[str]:
        """Nodes that give memory as it is. A loop that fills it, as of `scan`, is no node that has its value then."""
        return frozenset(node.name for node in self.module.graph.nodes if is_uninitialized(node))

    @functools.cached_property
    def returns_others(self) -> frozenset[str]:
        """The nodes that change arguments in place, and return none of them."""
        nodes = [node for node in self.module.graph.nodes if node.op == "call_function" and changed_values(node)]
        schemas = {node.name: getattr(node.target, "_schema", None) for node in nodes}
        return frozenset(
            name
            for name, schema in schemas.items()
            if schema is not None and schema.returns and not any(one.alias_info for one in schema.returns)
        )

    @functools.cached_property
    def changed_as(self) -> dict[str, list[str]]:
        """Buffer → the names that it has in the operations which change it in place."""
        found: dict[str, list[str]] = {}
        for name, operation in self.written_by.items():
            for changed in self.mutates.get(operation, ()):
                found.setdefault(changed, []).append(name)
        return found

    @functools.cached_property
    def has_collectives(self) -> bool:
        """See the function of that name."""
        return has_collectives(self.module)

    def order(self, operation: str) -> int:
        """Position of an operation among those of the graph."""
        return self.positions.get(operation, 0)

    def all_graphs(self) -> Iterator["Plan"]:
        """This one, and those of all graphs nested in it."""
        yield self
        for inner in self.nested.values():
            for one in inner.values():
                yield from one.all_graphs()


def plan(lowering: Any, graph_of: Callable[[Any], str], lowered_of: Callable[[Any], Lowered]) -> Plan:
    """The plan of `lowering`, torch's GraphLowering, after its code was generated, and of the graphs nested in it.

    `graph_of` gives the name of such a graph, `lowered_of` what its lowering left behind.
    """
    graph, lowered = graph_of(lowering), lowered_of(lowering)
    for constant, value in lowered.constants.items():
        if not hasattr(lowering.module, constant):
            setattr(lowering.module, constant, value)
    nodes: dict[str, str] = {}
    views: dict[str, View] = {}
    for node, result in lowered.results:
        name = _buffer_of(result)
        if name is not None and name not in nodes:
            nodes[name] = node
    for node, result in lowered.results:
        found = _view_of(result)
        if found is not None and found[0] not in nodes:
            nodes[found[0]] = node
            views[found[0]] = found[1]
    makers: dict[str, str] = {}
    buffers: dict[str, Any] = {}
    written_by: dict[str, str] = {}
    reads: dict[str, frozenset[str]] = {}
    mutates: dict[str, dict[str, str]] = {}
    assembled: list[str] = []
    parts: dict[str, list[tuple[str, tuple[Any, ...]]]] = {}
    for operation in lowering.operations:
        name = operation.get_operation_name()
        node = lowered.makers.get(name, "")
        for buffer in operation.get_outputs():
            written_by[buffer.get_name()] = name
            makers[buffer.get_name()] = node
            buffers[buffer.get_name()] = buffer
        reads[name] = frozenset(_read_by(operation))
        changed = {str(each): node for each in _changed_in_place(operation)}
        if changed:
            mutates[name] = changed
        if "NopKernel" in _kinds(operation):
            assembled += [buffer.get_name() for buffer in operation.get_outputs()]
        if type(operation).__name__ == "MultiOutput":
            path = tuple(index for _, index in operation.indices)
            parts.setdefault(operation.inputs[0].get_name(), []).append((operation.get_name(), path))
    of_graph = {node.name: node for node in lowering.module.graph.nodes}
    for operation, changes in mutates.items():
        mutates[operation] = {
            one: _changed_by(of_graph.get(by), nodes.get(one, one), by) for one, by in changes.items()
        }
    for changes in mutates.values():
        for buffer, node in changes.items():
            if nodes.get(buffer) == node:  # it is made and changed by one lowering: the first value is no node's
                del nodes[buffer]
    for buffer, node in copied_arguments(lowering, lowered.makers):
        nodes.setdefault(buffer, node)
    within = dict(_within(lowering, [(one, makers[name]) for name, one in buffers.items() if name not in nodes]))
    nodes |= within
    biased = {peeled.of_the_graph(node) for node in within.values() if node != peeled.of_the_graph(node)}
    module = peeled.peeled(lowering.module, biased) if biased else lowering.module
    looped = steps_of(lowering, nodes, views, makers, mutates)
    nodes |= {step.buffer: node_of(step.buffer) for step in looped}
    return Plan(
        graph=graph,
        module=extended(module, looped) if looped else module,
        nodes=nodes,
        views=views,
        makers=makers,
        written_by=written_by,
        reads=reads,
        mutates=mutates,
        assembled=frozenset(assembled),
        outputs=tuple(_name_of(one) for one in lowering.graph_outputs),
        positions={each.get_operation_name(): at for at, each in enumerate(lowering.operations)},
        dropped=frozenset(map(str, lowering.inplaced_to_remove)),
        parts={buffer: tuple(found) for buffer, found in parts.items()},
        steps=sources_of(looped),
        inputs=dict(zip(lowering.graph_input_names, inputs_of(lowering.module), strict=False)),
        nested=_nested(lowering, lowered.makers, graph_of, lowered_of),
    )


def _nested(
    lowering: Any,
    makers: Mapping[str, str],
    graph_of: Callable[[Any], str],
    lowered_of: Callable[[Any], Lowered],
) -> dict[str, dict[str, Plan]]:
    """See `Plan.nested`. `makers`: operation → the FX node that is lowered to it."""
    found: dict[str, dict[str, Plan]] = {}
    for operation, attribute, inner in nested_graphs(lowering):
        node = makers.get(operation.get_operation_name(), "")
        if node and graph_of(inner):
            found.setdefault(node, {})[attribute] = plan(inner, graph_of, lowered_of)
    return found


def _changed_by(node: torch.fx.Node | None, argument: str, name: str) -> str:
    """The node that has the value of a changed argument: of an operator that changes a list of tensors the one that
    takes it out of the list, of any other operator its own, `name`.
    """
    changed = node.args[0] if node is not None and node.args else None
    if node is None or not isinstance(changed, (list, tuple)):
        return name
    places = [at for at, one in enumerate(changed) if isinstance(one, torch.fx.Node) and one.name == argument]
    return next((user.name for user in node.users if user.args[1:] == (*places,)), name)


def _is_own_kernel(operation: Any) -> bool:
    """True for the launch of a Triton kernel of the program: it is no buffer itself, so that its methods which name
    buffers fail, or name none; its outputs stand for what it changes.
    """
    return not any(one is operation for one in operation.get_outputs()) and not operation.get_mutation_names()


def _read_by(operation: Any) -> Iterable[str]:
    """The buffers that an operation reads."""
    if _is_own_kernel(operation):
        return [str(each.name) for each in operation.get_read_writes().reads]
    return [str(each) for each in operation.get_read_names()]


def _changed_in_place(operation: Any) -> Iterable[str]:
    """The buffers that an operation changes. That of a collective says so in its outputs alone."""
    outputs = operation.get_outputs()
    of = outputs if _is_own_kernel(operation) else [operation, *outputs]
    return dict.fromkeys(str(each) for one in of for each in one.get_mutation_names())


def _within(lowering: Any, made: Iterable[tuple[Any, str]]) -> Iterator[tuple[str, str]]:
    """Buffers that are a step of the lowering of a node, and still have the value of one: a convolution without its
    bias, and the order that a sort finds, in a narrower type. `made`: buffers, each with the node of its lowering.
    """
    nodes = {node.name: node for node in lowering.module.graph.nodes}
    for buffer, maker in made:
        node = nodes.get(maker)
        if node is None:
            continue
        if peeled.has_bias(node) and has_form(buffer, node.meta["val"]):
            yield buffer.get_name(), peeled.without_bias(maker)
        order = next((user for user in node.users if is_order(user)), None)
        if order is not None and has_form(buffer, order.meta["val"].to(torch.int16)):
            yield buffer.get_name(), order.name


def in_form_of_node(buffer: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """What a buffer holds, in the form of its node's value: one that is expanded, or of a wider integer type."""
    if _is_narrower(buffer.dtype, value.dtype):
        buffer = buffer.to(value.dtype)
    return buffer.expand(value.shape) if _is_expanded(buffer.shape, value.shape) else buffer


def in_form_of_buffer(value: torch.Tensor, buffer: torch.Tensor) -> torch.Tensor:
    """The value of a node as its buffer holds it: what is expanded once, integers perhaps in a narrower type."""
    if _is_expanded(buffer.shape, value.shape):
        for at, size in enumerate(buffer.shape):
            value = value.narrow(at, 0, size)
    return value.to(buffer.dtype) if _is_narrower(buffer.dtype, value.dtype) else value


def _is_narrower(one: torch.dtype, other: torch.dtype) -> bool:
    return (one, other) == (torch.int16, torch.int64)


def _is_expanded(size: Sequence[int], value: Sequence[int]) -> bool:
    pairs = list(zip(size, value, strict=False))
    return len(size) == len(value) and size != value and all(one in (1, other) for one, other in pairs)


def _name_of(output: Any) -> str:
    """The buffer in whose memory a result of the graph is."""
    try:
        return str(output.get_name())
    except (AttributeError, NotImplementedError):
        return ""


def _buffer_of(result: Any) -> str | None:
    """The name of the buffer that is exactly this value; None if it is a view, has no buffer or is no tensor."""
    if type(result).__name__ != "TensorBox":
        return None
    storage = result.data
    if type(storage).__name__ != "StorageBox" or "Buffer" not in _kinds(storage.data):
        return None
    return str(storage.data.get_name())


def _view_of(result: Any) -> tuple[str, View] | None:
    """The buffer of which this value is all elements, seen in another shape; None if it is not one."""
    view: Any = result.data if type(result).__name__ == "TensorBox" else None
    if type(view).__name__ != "ReinterpretView" or type(view.data).__name__ != "StorageBox":
        return None
    buffer = view.data.data
    if "Buffer" not in _kinds(buffer) or not hasattr(buffer, "layout"):
        return None
    layout = view.layout
    numbers = [*layout.size, *layout.stride, layout.offset, *buffer.get_size()]
    if not all(getattr(each, "is_Integer", type(each) is int) for each in numbers):
        return None
    if math.prod(map(int, layout.size)) != math.prod(map(int, buffer.get_size())):
        return None
    size, stride = tuple(map(int, layout.size)), tuple(map(int, layout.stride))
    return str(buffer.get_name()), View(size, stride, int(layout.offset))


def _kinds(thing: Any) -> Iterator[str]:
    return (kind.__name__ for kind in type(thing).__mro__)
