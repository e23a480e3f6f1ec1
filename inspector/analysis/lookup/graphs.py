"""Finds the graphs that a person names."""

from inspect_compile.analysis.lookup.answer import Ambiguous, Answer, Found, unknown
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph


def find_graphs(dump: Dump, text: str) -> Answer[Graph]:
    """All graphs that `text` names: a name, compile id or kind, or the beginning or a part of a name.

    A full name may be that of a nested graph; everything else selects among the outermost.
    """
    exact = dump.graph(text)
    if exact is not None:
        return Found((exact,))
    graphs = dump.outermost()
    for fits in (
        lambda graph: text in (graph.compile_id, graph.kind),
        lambda graph: graph.graph.startswith(text),
        lambda graph: text in graph.graph,
    ):
        if found := tuple(filter(fits, graphs)):
            return Found(found)
    return unknown(dump, text, "graph", (graph.graph for graph in graphs))


def find_graph(dump: Dump, text: str) -> Answer[Graph]:
    """The one graph that `text` names."""
    answer = find_graphs(dump, text)
    if isinstance(answer, Found) and len(answer.all) > 1:
        return Ambiguous(text, "graph", tuple(graph.graph for graph in answer.all))
    return answer
