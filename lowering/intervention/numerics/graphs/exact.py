"""The values of an FX graph in fp64, from given values on; and again, each with noise as rounding makes."""

import warnings
from collections import ChainMap, Counter
from collections.abc import Callable, Collection, Container, Iterable
from typing import Any, Final

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.fx.node import map_aggregate

from inspect_compile.lowering.intervention.numerics.graphs.in_fp64 import in_fp64, raised, wide
from inspect_compile.lowering.intervention.numerics.graphs.mutations import in_form_of, is_functionalized
from inspect_compile.lowering.intervention.numerics.graphs.nodes import (
    calls_graphs,
    changed_arguments,
    changed_list,
    has_no_dropout,
    has_own_value,
    in_rows,
    is_generator_state,
    is_random,
    may_use_tf32,
    name_of,
    takes_from_values,
    without_form,
)
from inspect_compile.lowering.intervention.numerics.graphs.noise import Noise
from inspect_compile.lowering.intervention.numerics.graphs.offload import give_back
from inspect_compile.lowering.intervention.numerics.graphs.patterns import leaves
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference
from inspect_compile.lowering.intervention.numerics.graphs.roundings import (
    at_least_single,
    chooses,
    computes_in_single,
    jumps,
    rounds_nothing,
)
from inspect_compile.lowering.intervention.numerics.graphs.shared import memory_of

_COMPARISONS: Final = frozenset(f"aten.{name}.Scalar" for name in ("eq", "ne", "lt", "le", "gt", "ge"))


class Exact(Interpreter):
    """The values of some nodes in fp64, from given values on."""

    def __init__(
        self,
        module: GraphModule,
        plain: Reference,
        leaves: Iterable[str],
        noise: "Noise | None" = None,
        wanted: Collection[str] | None = None,
    ) -> None:
        """`plain` has the values in their dtypes; those of `leaves`, and the graph's inputs, are taken from it. With
        `noise` every value is off by one rounding in its dtype, up or down: what comes out differs as much as rounding
        can make it differ. `wanted`: the nodes that are asked for, so that others need not be kept; None for any.
        """
        super().__init__(module, garbage_collect_values=False)
        self._nodes = {node.name: node for node in module.graph.nodes}
        self._positions = {name: at for at, name in enumerate(self._nodes)}
        self._values, self._late, self._tied = plain.values, plain.late, plain.tied
        self._leaves = frozenset(leaves)
        self._noise = noise
        self._wanted = None if wanted is None else set(wanted)
        self.taken: dict[str, str] = {}
        """Nodes without a form in fp64, whose value is that in their dtype, and those that depend on them: why."""

    def value(self, name: str) -> Any:
        """The value of one node. What it is computed from is kept as long as another one may need it."""
        needed = self._above([name], self.env)
        kept = None if self._wanted is None else {name, *self._wanted}
        readers = self._readers([name])
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for each in sorted(needed, key=self._positions.__getitem__):
                self.env[self._nodes[each]] = self._computed(self._nodes[each])
                for read in self._read(self._nodes[each]):
                    readers[read.name] -= 1
                    if kept is not None and readers[read.name] <= 0 and read.name not in kept:
                        self.env.pop(read, None)
        return self.env[self._nodes[name]]

    def passed(self, name: str) -> None:
        """The value of that node is not asked for any more: forget it, and what was kept for it alone."""
        if self._wanted is None:
            return
        self._wanted.discard(name)
        if self.env:
            readers = self._readers(())
            self.env = {
                node: one for node, one in self.env.items() if node.name in self._wanted or readers[node.name] > 0
            }

    def _readers(self, names: Iterable[str]) -> Counter[str]:
        """Node → how many nodes will read it until these and all that are wanted have been computed."""
        above = self._above((*names, *(self._wanted or ())), self.env)
        return Counter(each.name for name in above for each in self._read(self._nodes[name]))

    def _above(self, names: Iterable[str], known: Container[Node]) -> set[str]:
        """These nodes, and what they are computed from, up to nodes that are known or given."""
        found: set[str] = set()
        waiting = [self._nodes[name] for name in names]
        while waiting:
            node = waiting.pop()
            if node.name not in found and node not in known:
                found.add(node.name)
                waiting += self._read(node)
        return found

    def _read(self, node: Node) -> list[Node]:
        """The nodes whose values it is computed from."""
        if self._is_given(node):
            return []
        return [each for each in node.all_input_nodes if (node.name, each.name) not in self._late]

    def is_generator_state(self, name: str) -> bool:
        """See the function of that name."""
        return is_generator_state(self._nodes[name])

    def _is_given(self, node: Node) -> bool:
        return node.name in self._leaves or node.op in ("placeholder", "get_attr")

    def _computed(self, node: Node) -> Any:
        own = self._own(node)
        if self._is_given(node):  # both sides read the same number, and compute with it in float32 at least
            return self._moved(node, map_aggregate(own, at_least_single), wide(own), [own])
        reason = next((why for each in node.all_input_nodes if (why := self.taken.get(each.name))), "")
        if reason:
            self.taken[node.name] = reason
        if node.op == "call_function" and is_random(node) and not has_no_dropout(node):
            if _reads_numbers(node):
                self.taken[node.name] = reason or f"{node.target} draws random numbers"
            return wide(own)
        why = without_form(node) or self._tied.get(node.name, "")
        if why:
            self.taken[node.name] = why
            return wide(own)
        kept = self.env
        late = {each: self._late.get((node.name, each.name)) for each in node.all_input_nodes}
        instead = {each: wide(value) for each, value in late.items() if value is not None}
        instead |= self._as_given(node) if jumps(node, own) else self._rounded_inside(node)
        self.env = ChainMap(instead, kept)  # type: ignore[assignment]
        args, kwargs = self.fetch_args_kwargs_from_env(node)
        self.env = kept
        if str(node.target) in _COMPARISONS:
            args = self._as_compared(node, args)
        if self._noise is not None and may_use_tf32(node, own):
            args = map_aggregate(args, self._noise.in_tf32)
        if is_functionalized(node.target):
            kwargs = in_form_of(kwargs, torch.fx.map_arg(node.kwargs, self._own))
        try:
            given = in_rows(node.target, _unshared(node, map_aggregate(args, raised)))
            found = self._called(node, given, map_aggregate(kwargs, raised), own)
        except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
            error.__traceback__ = None
            said = str(error) if isinstance(error, NoFormError) else f"{node.target} ({type(error).__name__})"
            self.taken[node.name] = f"{said} has no form in fp64"
            if not self._values.holds(node.name):
                own = node.target(
                    *torch.fx.map_arg(node.args, self._narrow), **torch.fx.map_arg(node.kwargs, self._narrow)
                )  # type: ignore[operator]
            return wide(own)
        known = [*late.values(), *(self.env.get(each) for each in node.all_input_nodes)]
        return self._moved(node, own, wide(changed_list(node, given) if found is None else found), known)

    def _as_given(self, node: Node) -> dict[Node, Any]:
        """The arguments that are given values, or elements of these, without noise: both sides read them as they are,
        and nothing rounds them before they are compared, ordered or cut off.
        """
        if self._noise is None:
            return {}
        found = {}
        for each in node.all_input_nodes:
            if (node.name, each.name) not in self._late and self._source(each) is not None:
                found[each] = self._unmoved(each)
        return found

    def _unmoved(self, node: Node) -> Any:
        """The value without noise of a given node, or of elements of one."""
        if self._is_given(node):
            return wide(self._own(node))
        args, kwargs = torch.fx.map_arg((node.args, node.kwargs), self._unmoved)
        return in_fp64(node, self._own(node))(*map_aggregate(args, raised), **map_aggregate(kwargs, raised))

    def _rounded_inside(self, node: Node) -> dict[Node, Any]:
        """The arguments of a library's operator that come from given values of a half type, with noise of that type:
        it may round what it computes from them, such as parts of a sum, and its result alone does not show how often.
        """
        if self._noise is None or computes_in_single(node.target):
            return {}
        found = {}
        for each in node.all_input_nodes:
            own = self.env.get(each) if self._is_moved(each) else None
            if isinstance(own, torch.Tensor):
                found[each] = self._with_noise(own, self._own(each))
        return found

    def _is_moved(self, node: Node) -> bool:
        """True for a given value of a half type, or elements of one."""
        source = self._source(node)
        return source is not None and at_least_single(own := self._own(source)) is not own

    def _source(self, node: Node) -> Node | None:
        """The given value that this is, or has elements of; None if it is computed."""
        while not self._is_given(node):
            (source, *others) = node.all_input_nodes or [node, node]
            if others or not rounds_nothing(node) or (node.name, source.name) in self._late:
                return None
            node = source
        return node

    def _called(self, node: Node, args: Any, kwargs: Any, own: Any) -> Any:
        """What the node gives for arguments in fp64; graphs that it calls run in fp64, too. Raises NoFormError. `own`
        is what it gives in its dtypes.
        """
        if not calls_graphs(node):
            args = args if self._noise is None else self._noise.in_sums(node.target, args, own)
            return in_fp64(node, own)(*args, **kwargs)

        def inside(one: Any) -> Any:
            if not isinstance(one, GraphModule):
                return one
            return lambda *inputs: Inside(one, self._called_inside).run(*inputs)

        return node.target(*map_aggregate(args, inside), **map_aggregate(kwargs, inside))  # type: ignore[operator]

    def _called_inside(self, node: Node, args: Any, kwargs: Any) -> Any:
        """The value of a node of a nested graph. Raises NoFormError, or what the operator raises."""
        draws = is_random(node) and not has_no_dropout(node)
        if why := "its random numbers" if draws else without_form(node):
            raise NoFormError(f"{why} in a nested graph")
        own = node.meta.get("val")
        args, kwargs = map_aggregate(args, raised), map_aggregate(kwargs, raised)
        found = wide(self._called(node, in_rows(node.target, args), kwargs, own))
        return self._moved(node, own, found, [*leaves(list(args)), *leaves(list(kwargs.values()))])

    def rounds_to_half(self, name: str) -> bool:
        """True if the value of a node is rounded to a half type in its dtypes, or one is that it is computed from."""
        return any(map(self._is_half, (self._nodes[each] for each in self._above([name], ()))))

    def _is_half(self, node: Node) -> bool:
        """True for a computed value that is rounded to a half type."""
        if self._is_given(node) or rounds_nothing(node):
            return False
        return any(at_least_single(one) is not one for one in leaves([self._own(node)]))

    def misses_rounding(self, name: str) -> bool:
        """True if another order of roundings on the way to the value of a node may make more of it than is known here:
        it comes from values that are rounded to half types, or that are taken as they are: from an operator which reads
        others, such as an attention with a dropout, or from memory that such values may have been written to.
        """
        if self.taken.get(name) or self.rounds_to_half(name):
            return True
        above = [self._nodes[each] for each in self._above([name], ())]
        given = [node for node in above if self._is_given(node)]
        computed = [node for node in above if not self._is_given(node)]
        late = [node for node in computed if len(self._read(node)) < len(node.all_input_nodes)]
        before = max((self._positions[node.name] for node in late), default=0)
        if any(map(self._is_half, list(self._nodes.values())[:before])):
            return True
        read = leaves([self._own(each) for node in given for each in node.all_input_nodes])
        return any(isinstance(one, torch.Tensor) and one.is_floating_point() for one in read)

    def _own(self, node: Node) -> Any:
        """The value of a node in its dtypes or, where that is not kept, one of that kind."""
        name = node.name
        is_needed = name in self._values and (self._is_given(node) or has_own_value(node))
        return self._values[name] if is_needed or self._values.holds(name) else node.meta["val"]

    def _narrow(self, node: Node) -> Any:
        """The value in fp64 of a node, in its dtypes."""
        value, own = self.env[node], self._own(node)
        return value.to(own.dtype) if isinstance(value, torch.Tensor) and isinstance(own, torch.Tensor) else value

    def _as_compared(self, node: Node, args: Any) -> Any:
        """The arguments of a comparison with a number as ATen has them: the number in the tensor's dtype. A tensor that
        is given is not rounded before, so that it has no noise. With noise of every other seed the number is as it was
        written, which is what kernels compare in float32.
        """
        source, number = node.args[:2]
        if not isinstance(source, Node) or not isinstance(number, float):
            return args
        own = self._own(source)
        if not isinstance(own, torch.Tensor) or not own.is_floating_point():
            return args
        is_exact = self._is_given(source) and (node.name, source.name) not in self._late
        is_as_written = self._noise is not None and self._noise.is_odd
        limit = number if is_as_written else torch.tensor(number, dtype=own.dtype).item()
        return (wide(own) if is_exact else args[0], limit, *args[2:])

    def _moved(self, node: Node, own: Any, value: Any, known: Iterable[Any]) -> Any:
        """`value` with noise of one rounding of the dtype of `own`, if noise was asked for. It has memory of its own,
        or that of one of `known`.
        """
        if self._noise is None:
            return value
        if rounds_nothing(node) and not self._is_given(node) and not self._is_chosen(node):
            return value
        if isinstance(value, (list, tuple)):
            return type(value)(self._with_noise(one, its) for one, its in zip(value, own, strict=True))
        taken = {memory_of(one) for one in leaves(list(known)) if isinstance(one, torch.Tensor)}
        is_new = isinstance(value, torch.Tensor) and memory_of(value) not in taken
        return self._with_noise(value, own, is_new=is_new)

    def _is_chosen(self, node: Node) -> bool:
        """True for the largest of computed values, with the noise of every other seed: in a half type a kernel may
        compare it, rounded, with these as they were before they are rounded.
        """
        is_odd = self._noise is not None and self._noise.is_odd
        own = self._own(node) if is_odd and chooses(node) else None
        is_half = any(at_least_single(one) is not one for one in leaves([own]))
        return is_half and self._source(node) is None

    def _with_noise(self, value: Any, own: Any, *, is_new: bool = False) -> Any:
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or not own.is_floating_point():
            return value
        if value.layout is not torch.strided:  # oneDNN's own form of a weight
            return value
        return self._noise.on(value, own.dtype, in_place=is_new)  # type: ignore[union-attr]


class NoFormError(RuntimeError):
    """Something in a nested graph has no form in fp64: the message says what."""


class Inside(Interpreter):
    """A nested graph in fp64: all of its nodes, in their order."""

    def __init__(self, module: GraphModule, computed: Callable[[Node, Any, Any], Any]) -> None:
        """`computed` gives the value of a node that calls a function, from its arguments."""
        super().__init__(module)
        self._computed = computed

    def run_node(self, n: Node) -> Any:
        """The value of one node."""
        if n.op == "call_function":
            return self._computed(n, *self.fetch_args_kwargs_from_env(n))
        return wide(super().run_node(n)) if n.op in ("placeholder", "get_attr") else super().run_node(n)


class Exacts:
    """The values in fp64 that come from the same given values, without noise and with several seeds of it."""

    def __init__(
        self,
        module: GraphModule,
        plain: Callable[[], Reference],
        leaves: Iterable[str],
        noise: "dict[int, Noise]",
        wanted: Collection[str] | None = None,
    ) -> None:
        """See `Exact`. `noise`: seed → its random numbers, which other values may share. `plain` is called once a value
        is asked for.
        """
        self._module, self._plain, self._leaves, self._noise = module, plain, frozenset(leaves), noise
        self._wanted = None if wanted is None else set(wanted)
        self._known: dict[int | None, Exact] = {}

    def of(self, seed: int | None = None) -> Exact:
        """With the noise of a seed, or without noise."""
        if seed not in self._known:
            if self._known:
                give_back()
            noise = None if seed is None else self._noise.setdefault(seed, Noise(seed))
            self._known[seed] = Exact(self._module, self._plain(), self._leaves, noise, self._wanted)
        return self._known[seed]

    def in_single(self, seed: int) -> Exact:
        """With the noise of a seed, as rounding to float32 makes it."""
        return Exact(self._module, self._plain(), self._leaves, Noise(seed, in_single=True), ())

    def passed(self, name: str) -> None:
        """See `Exact`."""
        if self._wanted is not None:
            self._wanted.discard(name)
        for one in self._known.values():
            one.passed(name)

    def forget(self, seed: int) -> None:
        """Let go of the values with the noise of this seed."""
        self._known.pop(seed, None)

    @property
    def is_known(self) -> bool:
        """True if a value was asked for."""
        return bool(self._known)

    def has_sizes_of_values(self) -> bool:
        """True if a node of the graph makes a number of a tensor's value, or a size of values."""
        return any(takes_from_values(node.target) for node in self._module.graph.nodes)


def _reads_numbers(node: Node) -> bool:
    """True for a node that draws random numbers and reads more of tensors than their sizes."""
    read = (one.meta.get("val") for one in node.all_input_nodes)
    is_read = any(isinstance(one, torch.Tensor) and one.is_floating_point() for one in read)
    return is_read and not name_of(node.target).partition(".default")[0].endswith("_like")


def _unshared(node: Node, args: Any) -> Any:
    """The arguments, copies of those that the node changes in place."""
    changed = changed_arguments(node)
    return tuple(map_aggregate(one, _copy) if at in changed else one for at, one in enumerate(args))


def _copy(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value
