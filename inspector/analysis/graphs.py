"""Which graphs a dump holds, and which of them a person means."""

from inspect_compile.analysis.nothing import nothing_text
from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Graph


def outermost(dump: Dump) -> list[Graph]:
    """The graphs that were compiled on their own, in order: nested ones stand in them."""
    return [graph for graph in dump.graphs() if "/" not in graph.graph]


def graphs_of(dump: Dump, graph: str | None) -> list[Graph]:
    """The outermost graphs asked for. A nested one's name stands for itself."""
    return [found for found in dump.graphs() if found.graph == graph] if graph is not None else outermost(dump)


def find(dump: Dump, wanted: str) -> Graph:
    """The one graph that `wanted` means: its name, its compile id or kind, a prefix or a part of its name.

    A name in full may be that of a nested graph; all else means an outermost one. Errors list the graphs there are.
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
    there = ", ".join(graph.graph for graph in found or candidates) or f"none, {nothing_text(dump)}"
    if found:
        raise CommandError(f"--graph {wanted}: several graphs are meant: {there}")
    raise CommandError(f"--graph {wanted}: no such graph; the dump has: {there}")


def short_name(graph: Graph, graphs: list[Graph]) -> str:
    """The shortest name by which `find` finds `graph` among `graphs`: kind, compile id, or its own."""
    for name in (graph.kind, graph.compile_id):
        if name and sum(name in (other.kind, other.compile_id) for other in graphs) == 1:
            return name
    return graph.graph
