"""The identity of what has a name in a graph: a node, buffer, operation, group or kernel."""

from typing import NamedTuple, Protocol

from inspect_compile.facts.nesting import nested_path, outermost


class _Named(Protocol):
    @property
    def graph(self) -> str: ...
    @property
    def name(self) -> str: ...


class Id(NamedTuple):
    """A name is unique only within its graph, outermost or nested."""

    graph: str
    name: str

    @classmethod
    def of(cls, row: _Named) -> "Id":
        """The identity of what a record is about."""
        return tuple.__new__(cls, (row.graph, row.name))  # in two thirds of the time: there are many

    @property
    def outermost(self) -> str:
        """The outermost graph that it is in."""
        return outermost(self.graph)

    @property
    def path(self) -> str:
        """The path of its graph in the outermost one; empty if it is that one."""
        return nested_path(self.graph)

    def below(self, graph: str) -> str:
        """`true_graph_0/op3`: the name, after the path of its graph in `graph` if it is nested there."""
        nested = self.graph.removeprefix(graph).strip("/")
        return f"{nested}/{self.name}" if nested else self.name
