"""Which graphs a dump holds, and which of them a name selects."""

from collections import Counter
from typing import Final

from inspect_compile.analysis.dumps.few import few
from inspect_compile.analysis.dumps.nothing import nothing_text
from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Graph

_MOST_NAMES: Final = 12


def outermost(dump: Dump) -> list[Graph]:
    """The graphs that were compiled on their own, in order; nested graphs are parts of these."""
    return dump.outermost()


def graphs_of(dump: Dump, graph: str | None) -> list[Graph]:
    """The outermost graphs that `graph` selects. The name of a nested graph selects that graph."""
    if graph is None:
        return outermost(dump)
    found = dump.graph(graph)
    return [] if found is None else [found]


def find(dump: Dump, wanted: str) -> Graph:
    """The one graph that `wanted` names: its name, compile id or kind, or a prefix or part of its name.

    A full name may be that of a nested graph; everything else selects among the outermost. Raises CommandError with the
    list of graphs.
    """
    graphs = dump.graphs()
    for graph in graphs:
        if graph.graph == wanted:
            return graph
    candidates = [graph for graph in graphs if "/" not in graph.graph]
    for fits in (
        lambda graph: wanted in (graph.compile_id, graph.kind),
        lambda graph: graph.graph.startswith(wanted),
        lambda graph: wanted in graph.graph,
    ):
        found = [graph for graph in candidates if fits(graph)]
        if len(found) == 1:
            return found[0]
        if found:
            break
    meant = found or candidates
    there = few([graph.graph for graph in meant], _MOST_NAMES) or f"none, {nothing_text(dump)}"
    if found:
        raise CommandError(f"--graph {wanted}: several graphs are meant: {there}")
    raise CommandError(f"--graph {wanted}: no such graph; the dump has: {there}")


class ShortNames:
    """For each graph of a dump, the shortest name that `find` accepts: kind, compile id, or full name."""

    def __init__(self, dump: Dump) -> None:
        graphs = outermost(dump)
        self._counts = Counter(name for graph in graphs for name in {graph.kind, graph.compile_id} if name)

    def of(self, graph: Graph) -> str:
        """The short name of an outermost graph."""
        for name in (graph.kind, graph.compile_id):
            if name and self._counts[name] == 1:
                return name
        return graph.graph
