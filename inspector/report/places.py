"""Where the things that a dump names stand in the page: graphs, nodes, kernels, source lines and compiles.

A place is the part of the address behind `#`: `kernel=cpp_fused_add_0`, or `graph=model__1_inference_1.1&kernel=…`
where an earlier graph has a kernel of that name, too.
"""

from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote

from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.provenance.chain import Line
from inspect_compile.tables.text import file_name

KINDS: Final = ("graph", "node", "kernel", "line", "compile")


def source_line(line: Line) -> str:
    """`train.py:41`, as every table writes it."""
    return f"{file_name(line.file)}:{line.number}"


class Places:
    """The places of a page that has the code of some graphs; without graphs nothing has one."""

    def __init__(
        self,
        graphs: Iterable[CompiledGraph] = (),
        compiles: Iterable[str] = (),
        calls: Iterable[str] = (),
        breaks: Iterable[str] = (),
    ) -> None:
        """Of lines that no node comes from, `calls` led to compiles and stand in their tree; at `breaks` are graph
        breaks, which stand in the table of what Dynamo did.
        """
        self._owners: dict[tuple[str, str], str] = {}
        """Kind and name → the first graph that has it: the others name the graph, too."""
        self._there: set[tuple[str, str, str]] = set()
        for name in compiles:
            self._add("", "compile", name)
        for graph in graphs:
            self._add("", "graph", graph.name)
            for kind, name in _named(graph):
                self._add(graph.name, kind, name)
        self._calls = self._others(calls)
        self._breaks = self._others(breaks)

    def _others(self, lines: Iterable[str]) -> frozenset[str]:
        """The lines that have no place yet."""
        found = frozenset(name for name in lines if ("line", name) not in self._owners)
        for name in found:
            self._add("", "line", name)
        return found

    def is_call(self, name: str) -> bool:
        """Whether a line stands in the tree of compiles alone."""
        return name in self._calls

    def is_break(self, name: str) -> bool:
        """Whether a line stands at its graph break alone."""
        return name in self._breaks

    def _add(self, graph: str, kind: str, name: str) -> None:
        self._owners.setdefault((kind, name), graph)
        self._there.add((graph, kind, name))

    def place(self, kind: str, name: str, graph: str = "") -> str | None:
        """The id of what has this name in `graph`, or in the first graph that has it; None if the page does not."""
        owner = self._owners.get((kind, name))
        if owner is None:
            return None
        if not graph or owner in ("", graph):
            return f"{kind}={name}"
        return f"graph={graph}&{kind}={name}" if (graph, kind, name) in self._there else None

    def link(self, kind: str, name: str, graph: str = "") -> str | None:
        """The address of `place` in the page."""
        found = self.place(kind, name, graph)
        return None if found is None else f"#{quote(found, safe='/:=&.,-_')}"

    def of_graph(self, graph: str) -> "Unclaimed":
        """The ids of one graph's elements; of those that are of no graph for an empty name."""
        return Unclaimed(self, graph)


class Unclaimed:
    """Gives each place of a graph to one element: names of extern kernels repeat."""

    def __init__(self, places: Places, graph: str) -> None:
        self._places = places
        self._graph = graph
        self._given: set[str] = set()

    def take(self, kind: str, name: str) -> str | None:
        """The id of the next element that stands for this name; None if another has it."""
        found = self._places.place(kind, name, "" if kind == "graph" else self._graph)
        if found is None or found in self._given:
            return None
        self._given.add(found)
        return found


def _named(graph: CompiledGraph) -> Iterator[tuple[str, str]]:
    of = graph.provenance
    for node in of.nodes:
        yield "node", of.key(node.graph, node.name)
    for kernel in of.kernels:
        yield "kernel", kernel.name
    for lines in of.lines_of_node.values():
        for line in lines:
            yield "line", source_line(line)
