"""What the passes made of a graph's results: the graph as it was before them, run beside the one that is lowered."""

import functools
from collections.abc import Collection, Sequence
from typing import Any, Final

from torch.fx import GraphModule, Node

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.levels import ALL_PASSES, BEFORE_PASSES, LOWERED_GRAPH, LOWERING
from inspect_compile.knowledge.numerics.verdicts import NOT_COMPARABLE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.graphs.nodes import depends_on_random, results_of
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference, reference
from inspect_compile.lowering.intervention.numerics.graphs.results import Results
from inspect_compile.lowering.intervention.numerics.graphs.shared import Shared
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, given
from inspect_compile.lowering.intervention.numerics.judges import compared_graphs
from inspect_compile.lowering.intervention.numerics.levels import Level
from inspect_compile.lowering.intervention.numerics.own_results import OwnResults
from inspect_compile.lowering.intervention.numerics.values import Plan

_RANDOM: Final = "its random numbers are drawn in another way before the passes"


class LevelCheck:
    """Compares the results of one call of a graph before and after the passes."""

    def __init__(
        self,
        plan: Plan,
        levels: Sequence[Level],
        args: Sequence[Any],
        number: int,
        state: RandomState,
        *,
        always_exact: bool,
        shared: Shared,
        own: OwnResults,
    ) -> None:
        """`levels` begins with the graph before the passes; for `always_exact` see `compared_graphs`. `shared` has what
        other graphs compute from `args`, and `own` what the compiled code gives.
        """
        self._own = own
        self._shared = shared
        self._plan = plan
        self._levels = levels
        self._args = args
        self._number = number
        self._state = state
        self._always_exact = always_exact
        first = levels[0].module
        self._random = depends_on_random(first)
        self._before = before = self._values(first, self._random)
        self._nodes = results_of(first)
        names = {one.name for one in self._nodes if isinstance(one, Node)}
        self._exact = Exacts(first, lambda: before.for_exact, (), {}, names)
        self._later: dict[int, Results] = {}
        """Position of a level → its results."""

    def rows(self, plain: Reference) -> list[Checked]:
        """A row for each result of the graph that is a tensor; `plain` has the values of the graph that is lowered."""
        found = []
        for at, (before, after) in enumerate(zip(self._nodes, results_of(self._plan.module), strict=False)):
            if not isinstance(before, Node) or not isinstance(after, Node):
                continue
            row = self._row(at, after.name, ALL_PASSES, BEFORE_PASSES)
            if before.name in self._random:
                found.append(with_fields(row, reason=_RANDOM))
                continue
            compared = functools.partial(self._compared, row, before.name)
            judged = compared(plain.results[at])
            if verdict(judged) == WRONG:
                judged = self._own.mended(with_fields(judged, level=self._blamed(row, at)), at, compared)
            found.append(judged)
            self._exact.passed(before.name)
        return found

    def launched(self, plain: Reference, found: Sequence[Any], rows: Sequence[Checked]) -> list[Checked]:
        """A row for each result of a forced call, `found`, that is in no buffer which a launch was judged by.

        A lowering can give it a buffer that is smaller than any node's value, for one. `rows` are those of the call.
        A result that is assembled from what a wrong launch wrote is wrong with it, and no fault of its lowering.
        """
        judged = [row for row in rows if row.kernel and row.graph == self._plan.graph and not row.is_step]
        known = {row.node for row in judged if verdict(row) != NOT_COMPARABLE}
        known.update(node.name for node in self._plan.module.graph.find_nodes(op="placeholder"))
        memories = {plain.values.memory(name) for name in known}
        wrong = {row.buffer for row in rows if row.against == BEFORE_PASSES and verdict(row) == WRONG}
        explained = _made_of(self._plan.module, {row.node for row in judged if verdict(row) == WRONG})
        told = []
        for at, (before, after) in enumerate(zip(self._nodes, results_of(self._plan.module), strict=False)):
            if not isinstance(before, Node) or not isinstance(after, Node) or f"result {at}" in wrong:
                continue
            if before.name in self._random or after.name in plain.unknown or after in explained:
                continue
            if plain.results.memory(at) in memories:
                continue
            row = self._row(at, after.name, LOWERING, LOWERED_GRAPH)
            told.append(self._compared(row, before.name, found[at]))
        return told

    def _row(self, at: int, node: str, level: str, against: str) -> Checked:
        return Checked(
            graph=self._plan.graph,
            call=self._number,
            index=-1,
            level=level,
            against=against,
            buffer=f"result {at}",
            node=node,
        )

    def _compared(self, row: Checked, before: str, value: Any) -> Checked:
        """`value` beside that of the node `before` in the graph before the passes."""
        eager = self._before.value(before)
        return compared_graphs(row, value, eager, before, self._exact, always_exact=self._always_exact)

    def _blamed(self, row: Checked, at: int) -> str:
        """The first pass after which the result `at`, whose row is `row`, is wrong."""
        for position, level in enumerate(self._levels[1:], start=1):
            if position not in self._later:
                self._later[position] = self._values(level.module)
            if verdict(self._compared(row, self._nodes[at].name, self._later[position].last[at])) == WRONG:
                return level.name
        return row.level

    def _values(self, module: GraphModule, without: Collection[str] = ()) -> Results:
        args, state, shared = self._args, self._state, self._shared

        def run(only: Collection[str] | None) -> Reference:
            state.restore()
            return reference(module, given(module, args), shared=shared, only=only)

        return Results(module, run, without)  # which does not know this check, and goes with it


def _made_of(module: GraphModule, names: set[str]) -> set[Node]:
    """The nodes of these names, and those whose values are computed from theirs."""
    found: set[Node] = set()
    for node in module.graph.nodes:
        if node.name in names or not found.isdisjoint(node.all_input_nodes):
            found.add(node)
    return found
