"""What a graph that runs node by node leaves behind, and all of its values where something turns out to need them."""

import functools
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from torch.fx import GraphModule, Node

from inspect_compile.lowering.intervention.numerics.graphs.nodes import has_collectives, has_own_value, results_of
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference, reference
from inspect_compile.lowering.intervention.numerics.graphs.shared import Number, Shared
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, given


class Left(NamedTuple):
    """The results of a call, and its inputs as they are after it."""

    results: Sequence[Any]
    inputs: Sequence[Any]


class Place(NamedTuple):
    """A result or an input of a graph."""

    at: int
    is_input: bool = False

    def of(self, left: Left) -> Any:
        """Its value in what a call left behind."""
        values = left.inputs if self.is_input else left.results
        return values[self.at] if self.at < len(values) else None


class Results:
    """The values of the results and the inputs as the graph leaves them. Memory for other values is taken only once
    they are asked for.
    """

    def __init__(
        self,
        module: GraphModule,
        args: Sequence[Any],
        state: RandomState,
        shared: Shared,
        *,
        numbers: Sequence[Number] | None = None,
        without: Collection[str] = (),
    ) -> None:
        """The graph runs on `args`, which stay as they are, from that `state` of the generators. For `shared` and
        `numbers` see `reference`. Ranks take part in collectives equally often, so that a graph with some runs once.
        `without`: nodes whose values nothing needs.
        """
        self.module = module
        self.args, self._state, self._shared, self._numbers = args, state, shared, numbers
        self._given = results_of(module)
        """The arguments of the graph's output node: nodes, and what is no node."""
        self.inputs: list[Any] = []
        """Those of the graph, in the state in which the last node left them."""
        names = {one.name for one in self._given if isinstance(one, Node)} - set(without)
        ran = self.whole if has_collectives(module) else self._run(names)
        self._values = ran.values
        self.last = ran.results
        """The results in the state in which the last node left their memory."""
        self.numbers = [ran.numbers.get(one.name) if isinstance(one, Node) else None for one in self._given]
        """The number of each among the values that graphs share; None for one that has none."""

    def _run(self, only: Collection[str] | None) -> Reference:
        """Run the graph, and keep the values of these nodes; None for all."""
        inputs = given(self.module, self.args)
        self._state.restore()
        ran = reference(self.module, inputs, shared=self._shared, numbers=self._numbers, only=only)
        self.inputs = self.inputs or inputs
        return ran

    @property
    def left(self) -> Left:
        """What the graph left behind."""
        return Left(self.last, self.inputs)

    @functools.cached_property
    def whole(self) -> Reference:
        """The values of all nodes."""
        return self._run(None)

    @functools.cached_property
    def for_exact(self) -> Reference:
        """What the values in fp64 of its results are computed from: of all other nodes the dtype is enough."""
        if has_collectives(self.module):
            return self.whole
        return self._run({node.name for node in self.module.graph.nodes if has_own_value(node)})

    def value(self, name: str) -> Any:
        """The value of a result, by the name of its node."""
        return self._values.get(name)

    def values(self) -> list[Any]:
        """The values of all results, as they were computed."""
        return [self._values.get(one.name) if isinstance(one, Node) else one for one in self._given]
