"""Values that several graphs compute by the same operators from the same inputs: they are computed once.

The graphs of two levels are mostly the same, node for node. Two nodes that call one operator of torch's with the values
of the same nodes have one number and one value. What draws random numbers, changes memory or reads what was changed,
takes part in collectives, calls other graphs, or is no operator of ATen's or Prims', has a number of its own.
"""

import itertools
import operator
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any, Final

import torch
from torch.fx import GraphModule, Node

from inspect_compile.lowering.intervention.numerics.graphs.nodes import (
    changed_arguments,
    changed_values,
    has_no_dropout,
    is_order,
    is_random,
    name_of,
    once_an_operator,
    results_of,
)
from inspect_compile.lowering.intervention.numerics.graphs.offload import Offload, Values
from inspect_compile.lowering.intervention.numerics.graphs.patterns import leaves, pattern_of
from inspect_compile.lowering.intervention.numerics.steps.loops import Loops

_NAMESPACES: Final = ("aten", "prims")
_FUNCTIONS: Final = "_operator"
"""The module of `getitem` and of arithmetic with sizes."""
_RESHAPES: Final = ("aten.view.default", "aten.reshape.default", "aten._unsafe_view.default")
_COPIES: Final = (
    "aten.clone.default",
    "aten.alias.default",
    "aten.detach.default",
    "aten.lift_fresh_copy.default",
    "prims.inductor_force_stride_order.default",
)
"""Operators whose result has the elements of their argument."""
_NO_OPS: Final = ("aten.expand.default", "aten.slice.Tensor", *_RESHAPES)
"""Those whose result has them if it has its sizes."""
_CASTS: Final = ("prims.convert_element_type.default", "aten._to_copy.default")
"""Those whose result has them if it has its dtype."""
_CONSTANTS: Final = ("aten.full.default", "aten.scalar_tensor.default")
"""Operators that make a tensor of one number, their last argument."""
_NUMBERS: Final = (int, float, bool)
_WHOLE: Final = 1 << 53
"""Up to here each whole number is one in fp64."""
_PERMUTE: Final = "aten.permute.default"
_OF_MEMORY: Final = ("as_strided", "view_as_complex", "view.dtype", "view_element_type")
"""In the names of operators that depend on how a tensor lies in memory, not on its elements alone."""
_SEEDS: Final = ("inductor_seed", "inductor_lookup_seed")
_UNSAID: Final = ("batch_norm", *_SEEDS)
"""In the names of operators that change something, or draw random numbers, and whose schemas do not say so."""
_PLAIN: Final = (int, bool, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format)

Number = int
"""That of a value: two that are equal by what they were computed from have one."""


class _NoKeyError(Exception):
    """A node has an argument of which it is not known whether another is equal."""


class Shared:
    """The values of some graphs that run on the same inputs."""

    def __init__(self, store: Offload | None = None) -> None:
        """`store`: where the values of these graphs are; None for memory."""
        self.store = store
        self._numbers: dict[Hashable, Number] = {}
        self._values = Values(store, is_fixed=True)
        self._views: dict[tuple[str, Number], tuple[Number, tuple[int, ...], tuple[int, ...]]] = {}
        """Kind of view, and the number of one → the number of what is seen, the form of that, and that of the view."""
        self._next = itertools.count()

    def of_input(self, position: int) -> Number:
        """The number of the input at that position: by default graphs have the same inputs in the same order."""
        return self._number(("input", position))

    def of_constant(self, value: Any) -> Number:
        """The number of a tensor or module that belongs to a graph."""
        return self._number(("constant", id(value)))

    def alone(self) -> Number:
        """A number that nothing else has."""
        return next(self._next)

    def of_node(self, node: Node, numbers: dict[Node, Number]) -> Number | None:
        """The number of a node whose inputs have `numbers`; None if it has a value of its own each time.

        Passes drop nodes that change no element, and put one view in the place of two: those have the same number.
        """
        if not _is_sharable(node):
            return None
        target = name_of(node.target)
        source = node.args[0] if node.args else None
        try:
            if isinstance(source, Node) and _has_same_elements(node, source, target):
                return numbers[source]
            if isinstance(source, Node) and target in _RESHAPES:
                before, after = _sizes(source), _sizes(node)
                if before is not None and after is not None:
                    return self._view("reshape", numbers[source], before, lambda below: after)
            if isinstance(source, Node) and target == _PERMUTE and len(node.args) == 2:
                places: Any = node.args[1]
                order = [at % len(places) for at in places]
                unmoved = tuple(range(len(order)))
                return self._view("permute", numbers[source], unmoved, lambda below: tuple(below[at] for at in order))
            if (
                target in _CONSTANTS
                and (made := _sizes(node)) is not None
                and type(number := node.args[-1]) in _NUMBERS
            ):
                value = node.meta["val"]
                number = _as_element(number, value.dtype)
                return self._number(("full", made, value.dtype, value.device, type(number), repr(number)))
            return self._number((target, _key(node.args, numbers), _key(node.kwargs, numbers)))
        except (_NoKeyError, KeyError):
            return None

    def _view(
        self, kind: str, source: Number, form: tuple[int, ...], seen: Callable[[tuple[int, ...]], tuple[int, ...]]
    ) -> Number:
        """The number of a view of a value, which has this form and may be such a view itself. `seen`: form of what is
        seen -> form in which it is seen.
        """
        base, first, below = self._views.get((kind, source), (source, form, form))
        now = seen(below)
        if now == first:
            return base
        found = self._number((kind, base, now))
        self._views[kind, found] = base, first, now
        return found

    def has(self, number: Number | None) -> bool:
        """True if the value of this number is known."""
        return number in self._values

    def known(self) -> frozenset[Number]:
        """The numbers of all values that are known."""
        return frozenset(self._values.data)  # type: ignore[arg-type]

    def value(self, number: Number) -> Any:
        """The value of this number, which is known."""
        return self._values[number]

    def keep(self, number: Number, value: Any, inputs: Collection[int]) -> None:
        """Remember a value for other graphs, unless it is in the memory of `inputs`: each graph has its own."""
        tensors = [one for one in leaves(value) if isinstance(one, torch.Tensor)]
        if any(one.layout is not torch.strided or memory_of(one) in inputs for one in tensors):
            return
        if number not in self._values:
            self._values[number] = value

    def _number(self, key: Hashable) -> Number:
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = next(self._next)
        return found


def memory_of(value: torch.Tensor) -> int:
    """The address of a tensor's memory."""
    return value.untyped_storage().data_ptr() if value.layout is torch.strided else 0


def in_memory(value: torch.Tensor) -> list[int] | None:
    """The dimensions of a tensor in the order in which it has them in memory, where its elements are, each once and
    without gaps; None if they are not.
    """
    order = sorted(range(value.dim()), key=value.stride, reverse=True)
    return order if value.permute(order).is_contiguous() else None


def index_at(position: int, value: torch.Tensor) -> tuple[int, ...]:
    """The index of the element at that position of a flat tensor."""
    index = []
    for size in reversed(value.shape):
        position, at = divmod(position, size)
        index.append(at)
    return tuple(reversed(index))


def changes_only_inputs(module: GraphModule) -> bool:
    """True if no node of the graph changes what another one made."""
    for node in module.graph.nodes:
        for one in changed_values(node) if node.op == "call_function" else ():
            if not (isinstance(one, Node) and one.op == "placeholder"):
                return False
    return True


def depends_on_strides(module: GraphModule) -> bool:
    """True if a node of the graph may be told by, or fail for, the strides of a value, where its elements are equal."""
    return any(_has_in_name(node.target, _OF_MEMORY) for node in module.graph.nodes)


def can_share(module: GraphModule) -> bool:
    """True if what each node computes is told by what it is computed from."""
    return changes_only_inputs(module) and not depends_on_strides(module)


def changes_nothing(module: GraphModule, *, but_inputs: bool = False) -> bool:
    """True if it is known that no node of the graph changes memory; with `but_inputs`, none but that of its inputs."""
    nodes = [node for node in module.graph.nodes if node.op == "call_function"]
    if but_inputs and not changes_only_inputs(module):
        return False
    return all(_is_known(node) and (but_inputs or not changed_arguments(node)) for node in nodes)


def changed_inputs(module: GraphModule) -> set[int] | None:
    """Positions of the inputs that the graph changes; None if it is not known which."""
    if not changes_nothing(module, but_inputs=True):
        return None
    nodes = [node for node in module.graph.nodes if node.op == "call_function"]
    changed = {one for node in nodes for one in changed_values(node)}
    return {at for at, node in enumerate(module.graph.find_nodes(op="placeholder")) if node in changed}


def _is_known(node: Node) -> bool:
    """True if it is known what the node changes."""
    return isinstance(node.target, Loops) or _is_plain(node) or _draws(node)


def _is_plain(node: Node) -> bool:
    """True for an operator of which it is known what it changes."""
    return _says_what_it_does(node.target) and pattern_of(node) is None


@once_an_operator
def _says_what_it_does(target: Any) -> bool:
    if _has_in_name(target, _UNSAID):
        return False
    return getattr(target, "namespace", "") in _NAMESPACES or getattr(target, "__module__", "") == _FUNCTIONS


def _has_in_name(target: Any, words: tuple[str, ...]) -> bool:
    name = name_of(target)
    return any(word in name for word in words)


def _is_sharable(node: Node) -> bool:
    return node.op == "call_function" and _is_plain(node) and not _draws(node) and not changed_arguments(node)


def draws_numbers(module: GraphModule) -> bool:
    """True if a node of the graph takes something from a generator of random numbers, as far as is known."""
    return any(_draws(node) for node in module.graph.nodes if node.op == "call_function")


def _draws(node: Node) -> bool:
    """True if it draws random numbers, or seeds for them, and does nothing else."""
    if _has_in_name(node.target, _SEEDS):
        return True
    return is_random(node) and not has_no_dropout(node) and not changed_arguments(node)


def _has_same_elements(node: Node, source: Node, target: str) -> bool:
    """True if the value of `node` has the elements of its first argument, `source`, in their places."""
    if target in _COPIES:
        return True
    made, given = node.meta.get("val"), source.meta.get("val")
    if not isinstance(made, torch.Tensor) or not isinstance(given, torch.Tensor):
        return False
    if target in _CASTS:
        return made.dtype == given.dtype and made.device == given.device
    return target in _NO_OPS and None not in (sizes := (_sizes(node), _sizes(source))) and sizes[0] == sizes[1]


def _as_element(number: Any, dtype: torch.dtype) -> Any:
    """The number that all elements of a constant in this dtype are made of: 0 and 0.0 are one in a floating type."""
    is_same = dtype.is_floating_point and type(number) is int and abs(number) <= _WHOLE
    return float(number) if is_same else number


def _sizes(node: Node) -> tuple[int, ...] | None:
    """The sizes of a node's value, if all are numbers: comparing others would install guards."""
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or not all(type(one) is int for one in value.shape):
        return None
    return tuple(value.shape)


def _key(value: Any, numbers: dict[Node, Number]) -> Hashable:
    """An argument as a key: 1, 1.0 and True are not the same."""
    if isinstance(value, Node):
        if value not in numbers:
            raise _NoKeyError
        return "node", numbers[value]
    if isinstance(value, (tuple, list)):
        return "list", *(_key(one, numbers) for one in value)
    if isinstance(value, dict):
        return "dict", *((name, _key(one, numbers)) for name, one in sorted(value.items()))
    if isinstance(value, slice):
        return "slice", *(_key(one, numbers) for one in (value.start, value.stop, value.step))
    if isinstance(value, (float, complex)):
        return type(value).__name__, repr(value)
    if type(value) in _PLAIN:
        return type(value).__name__, value
    raise _NoKeyError


class SharedRun:
    """What one run of a graph shares with those of others."""

    def __init__(
        self, shared: Shared, module: GraphModule, inputs: Sequence[Any] | None, numbers: Sequence[Number] | None
    ) -> None:
        """`inputs`: None if they are not there, and only numbers are asked for; `numbers` are those of the inputs, if
        these are not those of all graphs.
        """
        self._shared = shared
        self._module = module
        self._memories = {memory_of(one) for one in inputs or () if isinstance(one, torch.Tensor)} - {0}
        given = iter(numbers if numbers is not None else map(shared.of_input, itertools.count()))
        self.numbers: dict[Node, Number] = {}
        self._sharable: set[Node] = set()
        self._others = shared.known()
        """What other graphs have computed. Of two nodes of one graph with equal elements each keeps its strides."""
        self._own = _as_they_lie(module)
        changed = _Changed(inputs)
        for node in module.graph.nodes:
            found = None
            if node.op == "placeholder":
                found = next(given)
            elif node.op == "get_attr":
                found = shared.of_constant(operator.attrgetter(str(node.target))(module))
            elif not changed.is_read_by(node) and (found := shared.of_node(node, self.numbers)) is not None:
                self._sharable.add(node)
            self.numbers[node] = shared.alone() if found is None else found
            changed.ran(node)
        self.overwritten = changed.overwritten
        """Nodes whose values the graph may change after them: what it returns of these is not what they computed."""
        self.effects = {
            each.name for node in module.graph.nodes if not _is_left_out(node) for each in node.all_input_nodes
        }
        """The nodes whose values are needed for what always runs, whatever is asked for."""

    def needed(self, names: Collection[str]) -> set[Node]:
        """The nodes that must run for the values of those of these names: what has effects always runs."""
        nodes = self._module.graph.nodes
        found = self._above(node for node in nodes if node.name in names or not _is_left_out(node))
        if any(map(_draws, found)):  # what is drawn depends on what was drawn before it
            found = self._above((*found, *filter(_draws, nodes)))
        return found | {self._module.graph.output_node()}

    def _above(self, nodes: Iterable[Node]) -> set[Node]:
        """These nodes, and those that they are computed from."""
        found: set[Node] = set()
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                # What is ordered is looked at for equal elements, also where the order is known.
                waiting += () if self.has(node) and not is_order(node) else node.all_input_nodes
        return found

    def has(self, node: Node) -> bool:
        """True if another graph has computed its value."""
        return node in self._sharable and node not in self._own and self.numbers[node] in self._others

    def value(self, node: Node) -> Any:
        """What it computed."""
        return self._shared.value(self.numbers[node])

    def keep(self, node: Node, value: Any) -> None:
        """Remember the value of a node for other graphs, if they can have it."""
        if node in self._sharable:
            self._shared.keep(self.numbers[node], value, self._memories)


def _as_they_lie(module: GraphModule) -> set[Node]:
    """Views and copies that an operator gets which may look at more than elements, such as where they begin in memory:
    each graph has its own, since another one may have copied the value.
    """
    found: set[Node] = set()
    for node in reversed(module.graph.nodes):
        if node.op == "call_function" and (_may_be_view(node.target) or name_of(node.target) in _COPIES):
            users = [one for one in node.users if one.op == "call_function"]
            if any(not _is_known(one) or (one in found and _may_be_view(one.target)) for one in users):
                found.add(node)
    return found


class _Changed:
    """Which nodes may be in memory of inputs that a graph has changed so far: what reads such a value reads something
    else than what its node computed.
    """

    def __init__(self, inputs: Sequence[Any] | None) -> None:
        """`inputs`: None if they are not there, so that all of them may be in one memory."""
        self._memories = itertools.repeat(0) if inputs is None else map(_memory_number, inputs)
        self._seen: dict[Node, frozenset[int]] = {}
        """Node → the inputs in whose memory it may be."""
        self._changed: set[int] = set()
        self.overwritten: set[Node] = set()
        """Nodes whose values may be in memory that a later node has changed."""

    def is_read_by(self, node: Node) -> bool:
        """True if the node reads memory that has been changed."""
        return bool(self._changed) and not self._changed.isdisjoint(self._behind(node.all_input_nodes))

    def ran(self, node: Node) -> None:
        """All nodes up to this one have run."""
        if node.op == "placeholder":
            self._seen[node] = frozenset((next(self._memories),))
        elif node.op == "call_function":
            changed = self._behind(one for one in changed_values(node) if isinstance(one, Node))
            self.overwritten |= {one for one, behind in self._seen.items() if not changed.isdisjoint(behind)}
            self._changed |= changed
            if _may_be_view(node.target) and (behind := self._behind(node.all_input_nodes)):
                self._seen[node] = behind

    def _behind(self, nodes: Iterable[Node]) -> frozenset[int]:
        return frozenset().union(*(self._seen.get(node, ()) for node in nodes))


def _memory_number(value: Any) -> int:
    """A number for the memory of an input, which those that share it have in common."""
    return memory_of(value) or id(value) if isinstance(value, torch.Tensor) else id(value)


@once_an_operator
def _may_be_view(target: Any) -> bool:
    """True if what it returns may be in the memory of an argument."""
    schema = getattr(target, "_schema", None)
    return schema is None or any(one.alias_info is not None for one in schema.returns)


def _is_left_out(node: Node) -> bool:
    """True for a node that need not run if nothing needs its value."""
    if node.op in ("get_attr", "output"):
        return True
    return _is_sharable(node) or (node.op == "call_function" and _draws(node))


def known_results(
    shared: Shared, module: GraphModule, numbers: Sequence[Number] | None = None, inputs: Sequence[Any] | None = None
) -> list[Number | None] | None:
    """The numbers of a graph's results, by what they are computed from; None if these do not tell. For `inputs` and
    `numbers` see `SharedRun`.
    """
    if not can_share(module):
        return None
    run = SharedRun(shared, module, inputs, numbers)
    nodes = [one if isinstance(one, Node) and one not in run.overwritten else None for one in results_of(module)]
    return [None if one is None else run.numbers.get(one) for one in nodes]


def overwritten(module: GraphModule, inputs: Sequence[Any]) -> set[Node]:
    """The nodes whose values may be in memory of an input that a later node changes."""
    changed = _Changed(inputs)
    for node in module.graph.nodes:
        changed.ran(node)
    return changed.overwritten
