"""Which graphs a dump holds."""

from collections import Counter

from inspect_compile.dump import Dump
from inspect_compile.facts import Graph


def outermost(dump: Dump) -> list[Graph]:
    """The graphs that were compiled on their own, in order; nested graphs are parts of these."""
    return dump.outermost()


def graphs_of(dump: Dump, graph: str | None) -> list[Graph]:
    """The outermost graphs that `graph` selects. The name of a nested graph selects that graph."""
    if graph is None:
        return outermost(dump)
    found = dump.graph(graph)
    return [] if found is None else [found]


class ShortNames:
    """For each graph of a dump, the shortest name that `find_graph` resolves: kind, compile id, or full name."""

    def __init__(self, dump: Dump) -> None:
        graphs = outermost(dump)
        self._counts = Counter(name for graph in graphs for name in {graph.kind, graph.compile_id} if name)

    def of(self, graph: Graph) -> str:
        """The short name of an outermost graph."""
        for name in (graph.kind, graph.compile_id):
            if name and self._counts[name] == 1:
                return name
        return graph.graph
