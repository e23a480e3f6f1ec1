"""An FX graph run node by node: in its dtypes, and, from given values on, in fp64."""

import warnings
from collections import ChainMap
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.fx.node import map_aggregate

from inspect_compile.knowledge.numerics.verdicts import BEYOND_ROUNDING, HALF_BEYOND_ROUNDING
from inspect_compile.lowering.intervention.numerics import philox

_SEEDS: Final = ("prims.inductor_seeds.default", "prims.inductor_seed.default")
_RANDOM: Final = "prims.inductor_random.default"
_RANDINT: Final = "prims.inductor_randint.default"
_BITS: Final = ("aten.view.dtype", "prims.view_element_type.default")
"""These take the bits of a value for another type: there are none of an exact value."""
_IN_PLACE: Final = "_inplace_generalized_scatter"
"""A function of torch's that changes its first argument; operators say so in their schema."""
_VIEWS: Final = ("view", "reshape", "permute", "expand", "squeeze", "unsqueeze", "slice", "select", "getitem", "clone")
"""Nodes that move values and round nothing."""
_ROW: Final = 65_521
"""How many random numbers there are; prime, so that a row of no matrix begins in the same place each time."""
_QUIET: Final = 8
"""How many seeds make noise of one rounding; those after them make more."""
_TURNS: Final = 4099
"""In how many places a row of random numbers can begin."""
_STEP: Final = 1511
"""By how many elements each use of it begins further on: prime to `_TURNS`, so that no place comes twice too soon."""


class Reference(NamedTuple):
    """An FX graph's values in their dtypes."""

    values: dict[str, Any]
    """Node → its value when it was computed."""
    unknown: dict[str, str]
    """Nodes whose random numbers are not those of the compiled code, and those that depend on them: why."""
    late: dict[tuple[str, str], Any]
    """Node, and one of its inputs that was changed in place before the node ran → the input's value then."""
    after: dict[tuple[str, str], Any]
    """Node that changes memory in place, and a node whose value is in that memory → that value afterwards."""
    results: tuple[Any, ...]
    """Of the graph, in the state in which the last node left their memory."""


def reference(module: GraphModule, inputs: Sequence[Any]) -> Reference:
    """Run a graph node by node. The inputs are changed if the graph does that."""
    run = _Plain(module)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = tuple(run.run(*inputs))
    return Reference(run.values, run.unknown, run.late, run.after, results)


class _Plain(Interpreter):
    """Keeps each value as it was before a later node changed it in place."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.values: dict[str, Any] = {}
        self.unknown: dict[str, str] = {}
        self.late: dict[tuple[str, str], Any] = {}
        self.after: dict[tuple[str, str], Any] = {}
        self._changed: set[str] = set()

    def run_node(self, n: Node) -> Any:
        """The value of one node."""
        reason = next((why for node in n.all_input_nodes if (why := self.unknown.get(node.name))), "")
        if reason:
            self.unknown[n.name] = reason
        args, _ = self.fetch_args_kwargs_from_env(n)
        if n.op != "output":
            for node in n.all_input_nodes:
                if node.name in self._changed:
                    self.late[n.name, node.name] = self.env[node].clone()
        shared = self._sharing([args[at] for at in changed_arguments(n) if at < len(args)])
        for node in shared:
            if self.values[node.name] is self.env[node]:
                self.values[node.name] = self.env[node].clone()
        made = _random(n, args, self.unknown)
        found = made if made is not None else super().run_node(n)
        for node in shared:
            self._changed.add(node.name)
            self.after[n.name, node.name] = self.env[node].clone()
        self.values[n.name] = found
        return found

    def _sharing(self, changed: Sequence[Any]) -> list[Node]:
        """The nodes whose values have the memory of one of these."""
        memories = {one.untyped_storage().data_ptr() for one in changed if isinstance(one, torch.Tensor)} - {0}
        if not memories:
            return []
        return [
            node
            for node, value in self.env.items()
            if isinstance(value, torch.Tensor) and value.untyped_storage().data_ptr() in memories
        ]


class Exact(Interpreter):
    """The values of some nodes in fp64, from given values on."""

    def __init__(
        self, module: GraphModule, plain: Reference, leaves: Iterable[str], noise: "Noise | None" = None
    ) -> None:
        """`plain` has the values in their dtypes; those of `leaves`, and the graph's inputs, are taken from it. With
        `noise` every value is off by one rounding in its dtype, up or down: what comes out differs as much as rounding
        can make it differ.
        """
        super().__init__(module, garbage_collect_values=False)
        self._nodes = {node.name: node for node in module.graph.nodes}
        self._positions = {name: at for at, name in enumerate(self._nodes)}
        self._values, self._late = plain.values, plain.late
        self._leaves = frozenset(leaves)
        self._noise = noise
        self.taken: dict[str, str] = {}
        """Nodes without a form in fp64, whose value is that in their dtype, and those that depend on them: why."""

    def value(self, name: str) -> Any:
        """The value of one node. What it is computed from is kept for the next one that needs it."""
        needed: set[str] = set()
        waiting = [self._nodes[name]]
        while waiting:
            node = waiting.pop()
            if node.name in needed or node in self.env:
                continue
            needed.add(node.name)
            if not self._is_given(node):
                waiting += [each for each in node.all_input_nodes if (node.name, each.name) not in self._late]
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for each in sorted(needed, key=self._positions.__getitem__):
                self.env[self._nodes[each]] = self._computed(self._nodes[each])
        return self.env[self._nodes[name]]

    def _is_given(self, node: Node) -> bool:
        return node.name in self._leaves or node.op in ("placeholder", "get_attr")

    def _computed(self, node: Node) -> Any:
        own = self._values[node.name]
        if self._is_given(node):
            return self._moved(node, own, _wide(own))
        reason = next((why for each in node.all_input_nodes if (why := self.taken.get(each.name))), "")
        if reason:
            self.taken[node.name] = reason
        if node.op == "call_function" and is_random(node):
            return _wide(own)
        why = without_form(node)
        if why:
            self.taken[node.name] = why
            return _wide(own)
        kept = self.env
        late = {each: self._late.get((node.name, each.name)) for each in node.all_input_nodes}
        self.env = ChainMap({each: _wide(value) for each, value in late.items() if value is not None}, kept)  # type: ignore[assignment]
        args, kwargs = self.fetch_args_kwargs_from_env(node)
        self.env = kept
        try:
            found = node.target(*_unshared(node, map_aggregate(args, raised)), **map_aggregate(kwargs, raised))  # type: ignore[operator]
        except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
            self.taken[node.name] = f"{node.target} has no form in fp64 ({type(error).__name__})"
            return _wide(own)
        return self._moved(node, own, _wide(found))

    def _moved(self, node: Node, own: Any, value: Any) -> Any:
        """`value` with noise of one rounding of the dtype of `own`, if noise was asked for."""
        if self._noise is None or any(word in node.name for word in _VIEWS if node.op == "call_function"):
            return value
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or not own.is_floating_point():
            return value
        return self._noise.on(value, own.dtype)


class Exacts:
    """The values in fp64 that come from the same given values, without noise and with several seeds of it."""

    def __init__(self, module: GraphModule, plain: Reference, leaves: Iterable[str], noise: "dict[int, Noise]") -> None:
        """See `Exact`. `noise`: seed → its random numbers, which other values may share."""
        self._module, self._plain, self._leaves = module, plain, frozenset(leaves)
        self._noise = noise
        self._known: dict[int | None, Exact] = {}

    def of(self, seed: int | None = None) -> Exact:
        """With the noise of a seed, or without noise."""
        if seed not in self._known:
            noise = None if seed is None else self._noise.setdefault(seed, Noise(seed))
            self._known[seed] = Exact(self._module, self._plain, self._leaves, noise)
        return self._known[seed]


def results_of(module: GraphModule) -> list[Any]:
    """The arguments of the graph's output node."""
    return list(module.graph.output_node().args[0])  # type: ignore[arg-type]


def depends_on_random(module: GraphModule) -> set[str]:
    """The nodes of a graph of ATen operators whose values depend on random numbers."""
    found: set[str] = set()
    for node in module.graph.nodes:
        draws = is_random(node) and not _has_no_dropout(node)
        if draws or any(each.name in found for each in node.all_input_nodes):
            found.add(node.name)
    return found


def _has_no_dropout(node: Node) -> bool:
    """True for an attention whose probability of dropout is 0: its operator has the tag of those that draw numbers."""
    schema = getattr(node.target, "_schema", None)
    for at, one in enumerate(schema.arguments if schema is not None else ()):
        if one.name == "dropout_p":
            return bool((node.args[at] if at < len(node.args) else node.kwargs.get(one.name, one.default_value)) == 0)
    return False


class Noise:
    """Random numbers that move values up or down, by half a unit in the last place at 1; with large seeds by as much as
    may be rounding at all.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._factors: dict[tuple[torch.device, torch.dtype], torch.Tensor] = {}
        """1 ± eps/2 in fp64. One row of them serves all values, from another place on each time: drawing them anew
        would cost more than what they are used for, and a longer row does not stay in a core's cache.
        """
        self._turn = 0

    def on(self, value: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """`value`, which is in fp64, with noise as rounding to `dtype` makes."""
        factors = self._factors.get((value.device, dtype))
        if factors is None:
            generator = torch.Generator(value.device).manual_seed(self._seed)
            up = torch.empty(_ROW + _TURNS, dtype=torch.int8, device=value.device).random_(0, 2, generator=generator)
            size = torch.finfo(dtype).eps * (_beyond(dtype) if self._seed >= _QUIET else 1.0)
            factors = self._factors[value.device, dtype] = (up.double() - 0.5) * size + 1
        self._turn = (self._turn + _STEP) % _TURNS
        row, count = factors[self._turn : self._turn + _ROW], value.numel()
        if count <= _ROW:
            return value * row[:count].view(value.shape)
        moved, rows = value.contiguous().view(-1), count // _ROW
        made = torch.empty_like(moved)
        torch.mul(moved[: rows * _ROW].view(rows, _ROW), row, out=made[: rows * _ROW].view(rows, _ROW))
        torch.mul(moved[rows * _ROW :], row[: count - rows * _ROW], out=made[rows * _ROW :])
        return made.view(value.shape)


def _beyond(dtype: torch.dtype) -> float:
    """How many roundings may be rounding, as verdicts have it."""
    return HALF_BEYOND_ROUNDING if dtype in (torch.float16, torch.bfloat16) else BEYOND_ROUNDING


def _random(node: Node, args: Any, unknown: dict[str, str]) -> Any:
    """The value of a node that makes seeds or random numbers of its own kind; None for any other node."""
    kind = str(node.target)
    if kind in _SEEDS:
        limits = torch.iinfo(torch.int64)
        size = [int(args[0])] if kind == _SEEDS[0] else []
        out = torch.empty(size, dtype=torch.int64, device=args[-1])
        return torch.ops.aten.randint.low_out(limits.min, limits.max, size, out=out)
    if kind not in (_RANDOM, _RANDINT):
        return None
    seed = args[1] if kind == _RANDOM else args[3]
    if seed.device.type != "cpu":
        unknown[node.name] = f"random numbers of a {seed.device.type} kernel are not computed again"
        return None
    if kind == _RANDOM:
        return philox.random([int(each) for each in args[0]], seed, args[2])
    return philox.randint(int(args[0]), int(args[1]), [int(each) for each in args[2]], seed)


def is_random(node: Node) -> bool:
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()) or str(node.target) in (
        _RANDOM,
        _RANDINT,
    )


def without_form(node: Node) -> str:
    """Why a node has no value in fp64; empty if it may have one."""
    if node.op != "call_function":
        return f"{node.op} has no form in fp64"
    if str(node.target) in _BITS:
        return f"{node.target} takes bits for another type"
    if any(kind.__name__ == "HigherOrderOperator" for kind in type(node.target).__mro__):
        return f"{node.target} calls a nested graph"
    return ""


def _unshared(node: Node, args: Any) -> Any:
    """The arguments, copies of those that the node changes in place."""
    changed = changed_arguments(node)
    return tuple(one.clone() if at in changed and isinstance(one, torch.Tensor) else one for at, one in enumerate(args))


def changed_arguments(node: Node) -> list[int]:
    """Positions of the arguments that the node changes in place."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return [0] if getattr(node.target, "__name__", "") == _IN_PLACE else []
    if not schema.is_mutable:
        return []
    return [at for at, one in enumerate(schema.arguments) if one.alias_info is not None and one.alias_info.is_write]


def _wide(value: Any) -> Any:
    """A value with its tensors in fp64, as far as they are of floating types."""
    return map_aggregate(value, widened) if isinstance(value, (tuple, list)) else widened(value)


def widened(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    if value.is_floating_point():
        return value.to(torch.float64)
    return value.to(torch.complex128) if value.is_complex() else value


def raised(value: Any) -> Any:
    """A dtype among the arguments in its widest form."""
    if not isinstance(value, torch.dtype):
        return value
    if value.is_floating_point:
        return torch.float64
    return torch.complex128 if value.is_complex else value
