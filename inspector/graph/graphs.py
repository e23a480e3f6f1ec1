"""Short names of the graphs of a dump, and which of their inputs are the same."""

from collections import Counter
from collections.abc import Sequence

from inspect_compile.dump import Dump
from inspect_compile.facts import Graph, Node


class ShortNames:
    """For each graph of a dump, the shortest name that `find_graph` resolves: kind, compile id, or full name."""

    def __init__(self, dump: Dump) -> None:
        graphs = dump.outermost()
        self._counts = Counter(name for graph in graphs for name in {graph.kind, graph.compile_id} if name)

    def of(self, graph: Graph) -> str:
        """The short name of an outermost graph."""
        for name in (graph.kind, graph.compile_id):
            if name and self._counts[name] == 1:
                return name
        return graph.graph


def matched_inputs(ours: Sequence[Node], theirs: Sequence[Node]) -> dict[str, Node]:
    """Placeholder of a later graph → placeholder of Dynamo's graph; empty if that is not certain.

    AOTAutograd takes Dynamo's inputs in order and records no names. The order is trusted only if both have the same
    number of inputs and each agrees in type and shape.
    """
    if len(ours) != len(theirs) or not all(map(_is_like, ours, theirs)):
        return {}
    return {one.name: other for one, other in zip(ours, theirs, strict=True)}


def _is_like(one: Node, other: Node) -> bool:
    return [(value.dtype, value.size) for value in one.values] == [(value.dtype, value.size) for value in other.values]
