"""Values that several graphs compute by the same operators from the same inputs: they are computed once.

The graphs of two levels are mostly the same, node for node. Two nodes that call one operator of torch's with the values
of the same nodes have one number and one value. What draws random numbers, changes memory or reads what was changed,
takes part in collectives, calls other graphs, or is no operator of ATen's or Prims', has a number of its own.
"""

import itertools
import operator
from collections.abc import Collection, Hashable, Sequence
from typing import Any, Final

import torch
from torch.fx import GraphModule, Node

from inspect_compile.lowering.intervention.numerics.graphs.nodes import changed_arguments, is_order, is_random
from inspect_compile.lowering.intervention.numerics.graphs.patterns import leaves, pattern_of

_NAMESPACES: Final = ("aten", "prims")
_FUNCTIONS: Final = "_operator"
"""The module of `getitem` and of arithmetic with sizes."""
_SAME: Final = {"aten.view.default": "aten.reshape.default"}
"""`levels.copied` has the one in the place of the other."""
_UNSAID: Final = ("batch_norm", "inductor_seed", "inductor_lookup_seed")
"""In the names of operators that change something, or draw random numbers, and whose schemas do not say so."""
_PLAIN: Final = (int, bool, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format)

Number = int
"""That of a value: two that are equal by what they were computed from have one."""


class _NoKeyError(Exception):
    """A node has an argument of which it is not known whether another is equal."""


class Shared:
    """The values of some graphs that run on the same inputs."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, Number] = {}
        self._values: dict[Number, Any] = {}
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
        """The number of a node whose inputs have `numbers`; None if it has a value of its own each time."""
        if not _is_sharable(node):
            return None
        target = str(node.target)
        try:
            return self._number((_SAME.get(target, target), _key(node.args, numbers), _key(node.kwargs, numbers)))
        except _NoKeyError:
            return None

    def has(self, number: Number | None) -> bool:
        """True if the value of this number is known."""
        return number in self._values

    def value(self, number: Number) -> Any:
        """The value of this number, which is known."""
        return self._values[number]

    def keep(self, number: Number, value: Any, inputs: Collection[int]) -> None:
        """Remember a value for other graphs, unless it is in the memory of `inputs`: each graph has its own."""
        tensors = [one for one in leaves(value) if isinstance(one, torch.Tensor)]
        if any(one.layout is not torch.strided or memory_of(one) in inputs for one in tensors):
            return
        self._values[number] = value

    def _number(self, key: Hashable) -> Number:
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = next(self._next)
        return found


def memory_of(value: torch.Tensor) -> int:
    """The address of a tensor's memory."""
    return value.untyped_storage().data_ptr() if value.layout is torch.strided else 0


def changes_only_inputs(module: GraphModule) -> bool:
    """True if no node of the graph changes what another one made."""
    for node in module.graph.nodes:
        for at in changed_arguments(node) if node.op == "call_function" else ():
            if at < len(node.args) and not (isinstance(node.args[at], Node) and node.args[at].op == "placeholder"):
                return False
    return True


def changes_nothing(module: GraphModule) -> bool:
    """True if it is known that no node of the graph changes memory."""
    return all(
        _is_plain(node) and not changed_arguments(node) for node in module.graph.nodes if node.op == "call_function"
    )


def _is_plain(node: Node) -> bool:
    """True for an operator of which it is known what it changes."""
    target: Any = node.target
    if any(name in str(target) for name in _UNSAID) or pattern_of(node) is not None:
        return False
    return getattr(target, "namespace", "") in _NAMESPACES or getattr(target, "__module__", "") == _FUNCTIONS


def _is_sharable(node: Node) -> bool:
    return node.op == "call_function" and _is_plain(node) and not is_random(node) and not changed_arguments(node)


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
        self, shared: Shared, module: GraphModule, inputs: Sequence[Any], numbers: Sequence[Number] | None
    ) -> None:
        """`numbers` are those of the inputs, if these are not those of all graphs."""
        self._shared = shared
        self._module = module
        self._memories = {memory_of(one) for one in inputs if isinstance(one, torch.Tensor)} - {0}
        given = iter(numbers if numbers is not None else map(shared.of_input, itertools.count()))
        self.numbers: dict[Node, Number] = {}
        self._sharable: set[Node] = set()
        is_changed = False
        for node in module.graph.nodes:
            found = None
            if node.op == "placeholder":
                found = next(given)
            elif node.op == "get_attr":
                found = shared.of_constant(operator.attrgetter(str(node.target))(module))
            elif not is_changed and (found := shared.of_node(node, self.numbers)) is not None:
                self._sharable.add(node)
            self.numbers[node] = shared.alone() if found is None else found
            # What is read afterwards may be something else than what its node computed.
            is_changed = is_changed or (node.op == "call_function" and bool(changed_arguments(node)))

    def needed(self, names: Collection[str]) -> set[Node]:
        """The nodes that must run for the values of those of these names: what has effects always runs."""
        nodes = self._module.graph.nodes
        found: set[Node] = set()
        waiting = [node for node in nodes if node.name in names or not _is_left_out(node)]
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                # What is ordered is looked at for equal elements, also where the order is known.
                waiting += () if self.has(node) and not is_order(node) else node.all_input_nodes
        return found

    def has(self, node: Node) -> bool:
        """True if another graph has computed its value."""
        return node in self._sharable and self._shared.has(self.numbers[node])

    def value(self, node: Node) -> Any:
        """What it computed."""
        return self._shared.value(self.numbers[node])

    def keep(self, node: Node, value: Any) -> None:
        """Remember the value of a node for other graphs, if they can have it."""
        if node in self._sharable:
            self._shared.keep(self.numbers[node], value, self._memories)


def _is_left_out(node: Node) -> bool:
    """True for a node that need not run if nothing needs its value."""
    return node.op == "get_attr" or _is_sharable(node)
