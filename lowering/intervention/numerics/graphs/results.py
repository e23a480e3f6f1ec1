"""The results of a graph that runs node by node, and all of its values where something turns out to need them."""

import functools
from collections.abc import Callable, Collection
from typing import Any

from torch.fx import GraphModule, Node

from inspect_compile.lowering.intervention.numerics.graphs.nodes import has_collectives, has_own_value, results_of
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference


class Results:
    """The values of the results; memory for the others is taken only once they are asked for."""

    def __init__(
        self,
        module: GraphModule,
        run: Callable[[Collection[str] | None], Reference],
        without: Collection[str] = (),
    ) -> None:
        """`run` runs the graph, and keeps the values of these nodes; None for all. Ranks take part in collectives
        equally often, so that a graph with some runs once. `without`: nodes whose values nothing needs.
        """
        self._run = run
        self._module = module
        self._given = results_of(module)
        """The arguments of the graph's output node: nodes, and what is no node."""
        names = {one.name for one in self._given if isinstance(one, Node)} - set(without)
        ran = self.whole if has_collectives(module) else run(names)
        self._values = ran.values
        self.last = ran.results
        """The results in the state in which the last node left their memory."""
        self.numbers = [ran.numbers.get(one.name) if isinstance(one, Node) else None for one in self._given]
        """The number of each among the values that graphs share; None for one that has none."""

    @functools.cached_property
    def whole(self) -> Reference:
        """The values of all nodes."""
        return self._run(None)

    @functools.cached_property
    def for_exact(self) -> Reference:
        """What the values in fp64 of its results are computed from: of all other nodes the dtype is enough."""
        if has_collectives(self._module):
            return self.whole
        return self._run({node.name for node in self._module.graph.nodes if has_own_value(node)})

    def value(self, name: str) -> Any:
        """The value of a result, by the name of its node."""
        return self._values.get(name)

    def values(self) -> list[Any]:
        """The values of all results, as they were computed."""
        return [self._values.get(one.name) if isinstance(one, Node) else one for one in self._given]
