"""An FX graph run node by node in its dtypes."""

import functools
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.fx.node import map_aggregate

from inspect_compile.lowering.intervention.numerics.graphs import philox
from inspect_compile.lowering.intervention.numerics.graphs.mutations import copied_by, without_copies
from inspect_compile.lowering.intervention.numerics.graphs.nodes import (
    RANDINT,
    RANDOM,
    changed_list,
    changed_values,
    has_equal,
    in_rows,
    is_collective,
    is_order,
)
from inspect_compile.lowering.intervention.numerics.graphs.offload import Offload, Returned, Values
from inspect_compile.lowering.intervention.numerics.graphs.patterns import leaves, pattern_of
from inspect_compile.lowering.intervention.numerics.graphs.shared import (
    Number,
    Shared,
    SharedRun,
    can_share,
    changes_only_inputs,
    memory_of,
)
from inspect_compile.lowering.intervention.numerics.steps.loops import Loops

TURNS: Final = 16
"""How often the values of a nested graph are kept in a call, such as a loop's body: later turns are not compared."""
_SEEDS: Final = ("prims.inductor_seeds.default", "prims.inductor_seed.default")


class Graph(Protocol):
    """A graph and those that are nested in it (`values.Plan`)."""

    @property
    def graph(self) -> str:
        """Its name."""

    @property
    def module(self) -> GraphModule:
        """The FX graph."""

    @property
    def nested(self) -> "Mapping[str, Mapping[str, Graph]]":
        """Node that calls nested graphs → the attribute with each of them → the graph."""


class Reference(NamedTuple):
    """An FX graph's values in their dtypes."""

    values: Values
    """Node → its value when it was computed."""
    unknown: dict[str, str]
    """Nodes whose random numbers are not those of the compiled code, and those that depend on them: why."""
    late: Values
    """Node, and one of its inputs that was changed in place before the node ran → the input's value then."""
    after: Values
    """Node that changes memory in place, and a node whose value is in that memory → that value afterwards."""
    tied: dict[str, str]
    """Nodes that tell the order of elements of which some are equal: why another order is as right."""
    results: Returned
    """Of the graph, in the state in which the last node left their memory."""
    draws: philox.Form | None
    """How the random numbers were drawn that a kernel draws."""
    nested: "dict[tuple[str, int], Reference]"
    """Nested graph, and which time it ran, from 1 → its values then, as far as they are kept."""
    numbers: dict[str, Number]
    """Node → the number of its value, among those that graphs share, unless the graph may have changed it; empty if
    none are shared.
    """


def reference(
    module: GraphModule,
    inputs: Sequence[Any],
    draws: philox.Form | None = None,
    nested: Mapping[str, Mapping[str, Graph]] | None = None,
    shared: Shared | None = None,
    numbers: Sequence[Number] | None = None,
    only: Collection[str] | None = None,
) -> Reference:
    """Run a graph node by node. The inputs are changed if the graph does that. `draws`: how the kernels of the graph
    draw random numbers; None if nothing is compared with what they drew on a GPU. `nested`: nested graphs that are run
    node by node too, see `Graph`. `shared`: values of other graphs, which are taken from there and put there;
    `numbers`: those of the inputs in it, if they are not the inputs of all these graphs. `only`: the nodes whose values
    are kept, in this and in `shared`; others are freed after their last use, or not computed at all.
    """
    turns = _Turns(draws, None if shared is None else shared.store)
    if shared is not None and not can_share(module):
        shared = None
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return turns.run(module, nested or {}, inputs, "", shared, numbers, only)[0]


class _Turns:
    """A call of a graph, and the values of the graphs that are nested in it."""

    def __init__(self, draws: philox.Form | None, store: Offload | None) -> None:
        self._draws = draws
        self._store = store
        self._ran: Counter[str] = Counter()
        self._kept: dict[tuple[str, int], Reference] = {}

    def run(
        self,
        module: GraphModule,
        nested: Mapping[str, Mapping[str, Graph]],
        inputs: Sequence[Any],
        doubt: str,
        shared: Shared | None = None,
        numbers: Sequence[Number] | None = None,
        only: Collection[str] | None = None,
    ) -> tuple[Reference, Any]:
        """Run a graph: its values, and what it returns. `doubt`: why its inputs are not those of the compiled code;
        empty if they are.
        """
        known = None if shared is None else SharedRun(shared, module, inputs, numbers)
        run = Plain(module, inputs, known, only, self._store, self._draws)
        run.nest(nested, self.function, doubt)
        found = run.advance()
        values = run.reference(lambda: found, self._kept)
        values.results.hold()
        return values, found

    def function(self, graph: Graph, doubt: str) -> Callable[..., Any]:
        """What runs a nested graph."""

        def call(*inputs: Any) -> Any:
            self._ran[graph.graph] += 1
            turn = self._ran[graph.graph]
            values, found = self.run(graph.module, graph.nested, inputs, doubt)
            if turn <= TURNS:
                self._kept[graph.graph, turn] = values
            return found

        return call


class Plain(Interpreter):
    """Runs the nodes of a graph in their order. Keeps each value as it was before a later node changed it in place."""

    def __init__(
        self,
        module: GraphModule,
        inputs: Sequence[Any],
        known: SharedRun | None,
        only: Collection[str] | None,
        store: Offload | None,
        draws: philox.Form | None,
        *,
        values: Callable[..., Values] = Values,
        shares: Collection[str] | None = None,
    ) -> None:
        """`only`: the nodes whose values are kept; those of others are freed after their last use. `store`: where they
        are; None for memory. `draws`: see `reference`. `values` makes what they are kept in. `shares`: the nodes whose
        values other graphs can have from `known`, beside those that what has effects reads; by default those that are
        kept.
        """
        super().__init__(module, garbage_collect_values=False)
        self.args_iter = iter(inputs)
        self._apart = {memory_of(one) for one in inputs if isinstance(one, torch.Tensor)} - {0}
        self._draws = draws
        self._known = known
        self._only = only
        self._shares = only if shares is None else shares
        if self._shares is not None and known is not None:
            self._shares = {*self._shares, *known.effects}
        self._needed = None if only is None or known is None else known.needed(only)
        self._last_read = {} if only is None else _last_reads(module)
        is_fixed = changes_only_inputs(module)
        self._new = functools.partial(Values, store, self._apart, is_fixed=is_fixed)
        self._values = values(store, self._apart, is_fixed=is_fixed)
        self._late, self._after = self._new(), self._new()
        self._unknown: dict[str, str] = {}
        self._tied: dict[str, str] = {}
        self._changed: set[str] = set()
        self.done: set[str] = set()
        """The nodes that have run."""
        self._waiting = iter(list(module.graph.nodes))
        self._nested: Mapping[str, Mapping[str, Graph]] = {}
        self._function: Callable[[Graph, str], Callable[..., Any]] | None = None
        self._doubt = ""

    def reference(self, found: Callable[[], Any], nested: "dict[tuple[str, int], Reference]") -> Reference:
        """The values of the nodes that have run. `found` gives what the graph returns, once that is asked for."""

        def results() -> Sequence[Any]:
            returned = found()
            return returned if isinstance(returned, (tuple, list)) else (returned,)

        known = self._known
        numbers = (
            {}
            if known is None
            else {node.name: number for node, number in known.numbers.items() if node not in known.overwritten}
        )
        values = self._values, self._unknown, self._late, self._after, self._tied
        return Reference(*values, Returned(results, self._new()), self._draws, nested, numbers)

    def nest(
        self,
        nested: Mapping[str, Mapping[str, Graph]],
        function: Callable[[Graph, str], Callable[..., Any]],
        doubt: str,
    ) -> None:
        """`function` makes of a nested graph, and of a doubt about its inputs, what runs it; `doubt` is that about the
        inputs of this one.
        """
        self._nested, self._function, self._doubt = nested, function, doubt

    def advance(self, to: str | None = None) -> Any:
        """Run the nodes that have not run yet, up to the one of this name; without a name all of them. Returns the
        value of the last one.
        """
        found = None
        for node in self._waiting:
            found = self.env[node] = self.run_node(node)
            self.done.add(node.name)
            for read in self._last_read.get(node, ()):
                self._forget(read)
            if node.name == to:
                break
        return found

    def _forget(self, node: Node) -> None:
        """No later node reads the value of `node`. In the memory of an input it is still looked at: that may change."""
        value = self.env[node]
        if not isinstance(value, torch.Tensor) or memory_of(value) not in self._apart:
            del self.env[node]

    def run_node(self, n: Node) -> Any:
        """The value of one node."""
        if self._needed is not None and n not in self._needed:
            return None
        if self._known is not None and self._known.has(n):
            return self._noted(n, self._known.value(n))
        reason = next((why for node in n.all_input_nodes if (why := self._unknown.get(node.name))), "")
        if n.op == "placeholder":
            reason = self._doubt
        if reason:
            self._unknown[n.name] = reason
        args, _ = self.fetch_args_kwargs_from_env(n)
        if n.op != "output":
            for node in n.all_input_nodes:
                if node.name in self._changed:
                    self._late[n.name, node.name] = self.env[node].clone()
        shared = self._sharing([torch.fx.map_arg(one, self.env.__getitem__) for one in changed_values(n)])
        for node in shared:
            self._values.part_from(node.name, self.env[node])
        made = _random(n, args, self._draws, self._unknown)
        found = made if made is not None else self._ran(n, reason)
        if found is None:
            found = changed_list(n, args)
        found = once_there(n.target, found)
        for node in shared:
            self._changed.add(node.name)
            self._after[n.name, node.name] = self.env[node].clone()
        if self._known is not None and (self._shares is None or n.name in self._shares):
            self._known.keep(n, found)
        return self._noted(n, found)

    def _noted(self, n: Node, found: Any) -> Any:
        """The value of a node, after it was noted."""
        if self._only is None or n.name in self._only:
            self._values[n.name] = found
        if is_order(n) and has_equal(self.env[n.args[0]][0], n.args[0]):  # type: ignore[index, arg-type]
            self._tied[n.name] = "some of the elements that it sorts are equal"
        return found

    def _ran(self, n: Node, doubt: str) -> Any:
        if isinstance(n.target, Loops):
            return self._looped(n)
        pattern = pattern_of(n)
        if pattern is not None:
            return pattern.run(*self.fetch_args_kwargs_from_env(n))
        if copied_by(n) is not None:
            return without_copies(n, *self.fetch_args_kwargs_from_env(n))
        inner = self._nested.get(n.name)
        if inner is None:
            return super().run_node(n)

        def given(node: Node) -> Any:
            is_inner = node.op == "get_attr" and node.target in inner
            return self._function(inner[str(node.target)], doubt) if is_inner and self._function else self.env[node]

        args: Any = torch.fx.map_arg(n.args, given)
        kwargs: Any = torch.fx.map_arg(n.kwargs, given)
        return n.target(*args, **kwargs)  # type: ignore[operator]

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """See `torch.fx.Interpreter`."""
        return super().call_function(target, in_rows(target, args), kwargs)

    def _looped(self, n: Node) -> Any:
        """The value of a step. What cannot be computed leaves the call to be checked without it."""
        if n.name not in self._unknown:
            try:
                return super().run_node(n)
            except (RuntimeError, TypeError, ValueError, IndexError) as error:
                self._unknown[n.name] = f"its loops cannot be read ({type(error).__name__}: {error})"[:200]
        return None

    def _sharing(self, changed: Sequence[Any]) -> list[Node]:
        """The nodes whose values have the memory of one of these."""
        memories = {one.untyped_storage().data_ptr() for one in leaves(changed) if isinstance(one, torch.Tensor)} - {0}
        if not memories:
            return []
        return [
            node
            for node, value in self.env.items()
            if isinstance(value, torch.Tensor) and value.untyped_storage().data_ptr() in memories
        ]


def _last_reads(module: GraphModule) -> dict[Node, list[Node]]:
    """Node → those that no later one reads."""
    seen: set[Node] = set()
    found: dict[Node, list[Node]] = {}
    for node in reversed(module.graph.nodes):
        for each in node.all_input_nodes:
            if each not in seen:
                seen.add(each)
                found.setdefault(node, []).append(each)
    return found


def arrived(value: Any) -> Any:
    """What a collective gives, once the other ranks' parts are there: it is kept before the graph waits for them."""
    return torch.ops._c10d_functional.wait_tensor(value) if isinstance(value, torch.Tensor) else value


def once_there(target: Any, found: Any) -> Any:
    """What an operator gave; of a collective, once the other ranks' parts are there."""
    return map_aggregate(found, arrived) if is_collective(target) else found


def _random(node: Node, args: Any, draws: philox.Form | None, unknown: dict[str, str]) -> Any:
    """The value of a node that makes seeds or random numbers of its own kind; None for any other node."""
    kind = str(node.target)
    if kind in _SEEDS:
        limits = torch.iinfo(torch.int64)
        size = [int(args[0])] if kind == _SEEDS[0] else []
        out = torch.empty(size, dtype=torch.int64, device=args[-1])
        return torch.ops.aten.randint.low_out(limits.min, limits.max, size, out=out)
    if kind not in (RANDOM, RANDINT):
        return None
    seed = args[1] if kind == RANDOM else args[3]
    form = philox.IN_CPP if seed.device.type == "cpu" else draws
    if form is None or (form.mixed and kind == RANDOM):
        unknown[node.name] = f"random numbers of a {seed.device.type} kernel are not computed again"
        return None
    if kind == RANDOM:
        return philox.random([int(each) for each in args[0]], seed, args[2], form)
    return philox.randint(int(args[0]), int(args[1]), [int(each) for each in args[2]], seed, form)
