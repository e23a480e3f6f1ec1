"""What the passes over the joint graph, and the partitioner, made of its results."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

from torch.fx import GraphModule, Node

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.levels import JOINT_GRAPH, JOINT_PASSES, PARTITIONER
from inspect_compile.knowledge.numerics.verdicts import WRONG, verdict
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.graphs.nodes import depends_on_random, results_of
from inspect_compile.lowering.intervention.numerics.graphs.results import Place, Results
from inspect_compile.lowering.intervention.numerics.judges import compared_graphs
from inspect_compile.lowering.intervention.numerics.own_results import OwnResults

_RANDOM: Final = "its random numbers are drawn in another way before the passes over the joint graph"


class JointCheck:
    """Compares results of the joint graph, as AOTAutograd traced it, with those of what it became."""

    def __init__(
        self,
        graph: str,
        number: int,
        module: GraphModule,
        values: Results,
        first: int,
        names: Sequence[str],
        own: OwnResults,
        *,
        always_exact: bool,
    ) -> None:
        """`module` is the joint graph, or the part of it that computes the forward's results, which are `values`. Its
        results from the position `first` on are called `names`, by the nodes of the graph that is lowered; `own`
        has what the compiled code gives. For `always_exact` see `compared_graphs`.
        """
        self._always_exact = always_exact
        self._own = own
        self._row = Checked(graph=graph, call=number, index=-1, level=JOINT_PASSES, against=JOINT_GRAPH)
        self._values = values
        self._nodes = results_of(module)[first:]
        wanted = {one.name for one in self._nodes if isinstance(one, Node)}
        self._exact = Exacts(module, lambda: values.for_exact, (), {}, wanted)
        self._names = names
        self.random = depends_on_random(module)
        """The nodes whose values are not compared, as they depend on random numbers."""
        self.compared = [isinstance(one, Node) and one.name not in self.random for one in self._nodes]
        """Whether each result is compared."""

    def rows(
        self, found: Sequence[Any], stages: Sequence[tuple[str, Callable[[], Sequence[Any]]]] | None
    ) -> list[Checked]:
        """A row for each result; `found` are those of what became of the graph.

        `stages` are passes, and what computes the results of the graph after each; the partitioner is blamed if none
        of them is. None if it cannot be said which is.
        """
        rows = []
        later: dict[int, Sequence[Any]] = {}
        for at, (node, value, name) in enumerate(zip(self._nodes, found, self._names, strict=False)):
            if not isinstance(node, Node) or not name:
                continue
            row = with_fields(self._row, buffer=f"result {at}", node=name)
            if node.name in self.random:
                rows.append(with_fields(row, reason=_RANDOM))
                continue
            compared = functools.partial(self._compared, row, node.name)
            judged = self._own.mended(compared(value), Place(at), compared)
            if stages is not None and verdict(judged) == WRONG:
                blamed = PARTITIONER
                for position, (level, compute) in enumerate(stages):
                    if position not in later:
                        later[position] = compute()
                    if verdict(compared(later[position][at])) == WRONG:
                        blamed = level
                        break
                judged = with_fields(judged, level=blamed)
            rows.append(judged)
            self._exact.passed(node.name)
        return rows

    def _compared(self, row: Checked, node: str, value: Any) -> Checked:
        eager = self._values.value(node)
        return compared_graphs(row, value, eager, node, self._exact, always_exact=self._always_exact)


def names_of(module: GraphModule) -> list[str]:
    """The nodes of a graph's results; empty for one that is no node."""
    return [one.name if isinstance(one, Node) else "" for one in results_of(module)]
