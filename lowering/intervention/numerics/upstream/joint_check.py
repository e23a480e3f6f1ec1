"""What the passes over the joint graph, and the partitioner, made of its results."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from torch.fx import GraphModule, Node

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.levels import JOINT_GRAPH, JOINT_PASSES, PARTITIONER
from inspect_compile.knowledge.numerics.verdicts import WRONG, verdict
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.graphs.nodes import depends_on_random, results_of
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference, reference
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies
from inspect_compile.lowering.intervention.numerics.judges import compared_graphs
from inspect_compile.lowering.intervention.numerics.upstream.beside import OTHER_KIND

_RANDOM: Final = "its random numbers are drawn in another way before the passes over the joint graph"


class JointCheck:
    """Compares results of the joint graph, as AOTAutograd traced it, with those of what it became."""

    def __init__(
        self, graph: str, number: int, module: GraphModule, values: Reference, first: int, names: Sequence[str]
    ) -> None:
        """`module` is the joint graph, or the part of it that computes the forward's results, and `values` are those of
        its nodes. Its results from the position `first` on are called `names`, by the nodes of the graph that is
        lowered.
        """
        self._row = Checked(graph=graph, call=number, index=-1, level=JOINT_PASSES, against=JOINT_GRAPH)
        self._values = values
        self._exact = Exacts(module, values, (), {})
        self._nodes = results_of(module)[first:]
        self._names = names
        self._random = depends_on_random(module)

    def rows(self, found: Sequence[Any], stages: Sequence[tuple[str, Callable[[], Sequence[Any]]]]) -> list[Checked]:
        """A row for each result; `found` are those of what became of the graph.

        `stages` are passes, and what computes the results of the graph after each; the partitioner is blamed if none
        of them is.
        """
        rows = []
        later: dict[int, Sequence[Any]] = {}
        for at, (node, value, name) in enumerate(zip(self._nodes, found, self._names, strict=False)):
            if not isinstance(node, Node) or not name:
                continue
            row = with_fields(self._row, buffer=f"result {at}", node=name)
            if node.name in self._random:
                rows.append(with_fields(row, reason=_RANDOM))
                continue
            judged = self._compared(row, node.name, value)
            if verdict(judged) == WRONG:
                blamed = PARTITIONER
                for position, (level, compute) in enumerate(stages):
                    if position not in later:
                        later[position] = compute()
                    if verdict(self._compared(row, node.name, later[position][at])) == WRONG:
                        blamed = level
                        break
                judged = with_fields(judged, level=blamed)
            rows.append(judged)
        return rows

    def _compared(self, row: Checked, node: str, value: Any) -> Checked:
        eager = self._values.values.get(node)
        return compared_graphs(row, value, eager, node, self._exact, other_kind=OTHER_KIND)


def results(module: GraphModule, args: Sequence[Any], state: RandomState) -> list[Any]:
    """What a graph computes from copies of `args`."""
    state.restore()
    return values_of(module, reference(module, copies(args)))


def values_of(module: GraphModule, values: Reference) -> list[Any]:
    """The values of a graph's results."""
    return [values.values.get(one.name) if isinstance(one, Node) else one for one in results_of(module)]


def names_of(module: GraphModule) -> list[str]:
    """The nodes of a graph's results; empty for one that is no node."""
    return [one.name if isinstance(one, Node) else "" for one in results_of(module)]
