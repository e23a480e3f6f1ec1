"""What the passes made of a graph's results: the graph as it was before them, run beside the one that is lowered."""

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch.fx import Node

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.levels import ALL_PASSES, BEFORE_PASSES
from inspect_compile.knowledge.numerics.verdicts import WRONG, verdict
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.graphs.nodes import depends_on_random, results_of
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference, reference
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies
from inspect_compile.lowering.intervention.numerics.judges import compared_graphs
from inspect_compile.lowering.intervention.numerics.levels import Level
from inspect_compile.lowering.intervention.numerics.values import Plan

_OTHER_KIND: Final = "the passes changed its shape or its dtype"
_RANDOM: Final = "its random numbers are drawn in another way before the passes"


class LevelCheck:
    """Compares the results of one call of a graph before and after the passes."""

    def __init__(
        self, plan: Plan, levels: Sequence[Level], args: Sequence[Any], number: int, state: RandomState
    ) -> None:
        """`levels` begins with the graph before the passes."""
        self._plan = plan
        self._levels = levels
        self._args = args
        self._number = number
        self._state = state
        first = levels[0].module
        self._before = self._values(first)
        self._exact = Exacts(first, self._before, (), {})
        self._nodes = results_of(first)
        self._later: dict[int, Reference] = {}
        """Position of a level → its values."""

    def rows(self, plain: Reference) -> list[Checked]:
        """A row for each result of the graph that is a tensor; `plain` has the values of the graph that is lowered."""
        random = depends_on_random(self._levels[0].module)
        found = []
        for at, (before, after) in enumerate(zip(self._nodes, results_of(self._plan.module), strict=False)):
            if not isinstance(before, Node) or not isinstance(after, Node):
                continue
            row = Checked(
                graph=self._plan.graph,
                call=self._number,
                index=-1,
                level=ALL_PASSES,
                against=BEFORE_PASSES,
                buffer=f"result {at}",
                node=after.name,
            )
            if before.name in random:
                found.append(with_fields(row, reason=_RANDOM))
                continue
            row = self._compared(row, before.name, plain.values.get(after.name))
            found.append(self._blamed(row, at) if verdict(row) == WRONG else row)
        return found

    def _compared(self, row: Checked, before: str, value: Any) -> Checked:
        """`value` beside that of the node `before` in the graph before the passes."""
        eager = self._before.values.get(before)
        return compared_graphs(row, value, eager, before, self._exact, other_kind=_OTHER_KIND)

    def _blamed(self, row: Checked, at: int) -> Checked:
        """The row with the first pass after which the result is wrong."""
        for position, level in enumerate(self._levels[1:], start=1):
            if position not in self._later:
                self._later[position] = self._values(level.module)
            node, before = results_of(level.module)[at], self._nodes[at]
            value = self._later[position].values.get(node.name) if isinstance(node, Node) else None
            if verdict(self._compared(row, before.name, value)) == WRONG:
                return with_fields(row, level=level.name)
        return row

    def _values(self, module: torch.fx.GraphModule) -> Reference:
        self._state.restore()
        return reference(module, copies(self._args))
