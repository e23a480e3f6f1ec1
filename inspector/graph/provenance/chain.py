"""Walks the chain of ids in both directions.

Source line ↔ FX node ↔ IR buffer ↔ scheduler operation ↔ kernel ↔ launch line. Works on a dump of any version.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeVar

from inspect_compile.facts import Location, Lowering
from inspect_compile.graph.ids import Id
from inspect_compile.knowledge.frontend.own_code import own_line

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph

K = TypeVar("K")
T = TypeVar("T")
Level = Literal["line", "node", "buffer", "operation", "kernel"]


@dataclass(frozen=True)
class Line:
    """A source line of the user's program."""

    file: str
    number: int

    @classmethod
    def of(cls, where: Location) -> "Line":
        """The line of a location."""
        return cls(where.file, where.line)


@dataclass(frozen=True)
class Selection:
    """What one selected thing is connected with, at every level."""

    lines: frozenset[Line] = frozenset()
    nodes: frozenset[str] = frozenset()
    buffers: frozenset[str] = frozenset()
    operations: frozenset[str] = frozenset()
    kernels: frozenset[int] = frozenset()
    """Positions in `Provenance.kernels`: extern calls share their names."""


class Provenance:
    """The chain of one graph, nested graphs included.

    Names in nested graphs are prefixed with the graph: `true_graph_0/op3`.
    """

    def __init__(self, graph: "CompiledGraph") -> None:
        self._graph = graph
        self.nodes = graph.nodes
        self.kernels = graph.kernels
        self.operations = graph.operations

    def key(self, graph: str, name: str) -> str:
        """A name as this chain uses it: bare in the graph itself, prefixed with the path of a nested graph."""
        return Id(graph, name).below(self._graph.name)

    @cached_property
    def line_of_node(self) -> dict[str, Line]:
        """Post-grad node → source line."""
        return {self.key(node.graph, node.name): Line.of(node.where) for node in self.nodes if node.where is not None}

    @cached_property
    def lines_of_node(self) -> dict[str, tuple[Line, ...]]:
        """Post-grad node → its source line; if that is a library's, the user's own line that led to it, too."""
        found: dict[str, tuple[Line, ...]] = {}
        for node in self.nodes:
            if node.where is not None:
                lines = (Line.of(one) for one in (node.where, own_line(node.where)) if one is not None)
                found[self.key(node.graph, node.name)] = tuple(dict.fromkeys(lines))
        return found

    @cached_property
    def nodes_of_line(self) -> dict[str | Line | int, set[str]]:
        """Source line → its post-grad nodes; of the user's own lines also those of the libraries that they call."""
        found: dict[str | Line | int, set[str]] = {}
        for node, lines in self.lines_of_node.items():
            for line in lines:
                found.setdefault(line, set()).add(node)
        return found

    @cached_property
    def nodes_of_operation(self) -> dict[str, set[str]]:
        """Operation → its origins."""
        return _sets((name, node) for node, names in self.operations_of_node.items() for name in names)

    @cached_property
    def operations_of_buffer(self) -> dict[str, set[str]]:
        """Buffer → the operations that write it."""
        return _sets((buffer, name) for name, buffers in self.buffers_of_operation.items() for buffer in buffers)

    @cached_property
    def operations_of_node(self) -> dict[str, set[str]]:
        """Post-grad node → operations that it is an origin of."""
        return _sets(
            (self.key(row.graph, node), self.key(row.graph, row.name)) for row in self.operations for node in row.nodes
        )

    @cached_property
    def kernels_of_operation(self) -> dict[str, set[int]]:
        """Operation → kernels that run it."""
        return _sets(
            (self.key(kernel.graph, name), position)
            for position, kernel in enumerate(self.kernels)
            for name in kernel.operations
        )

    @cached_property
    def kernels_of_node(self) -> dict[str, set[int]]:
        """Post-grad node → kernels that it is an origin of."""
        return _sets(
            (self.key(kernel.graph, node), position)
            for position, kernel in enumerate(self.kernels)
            for node in kernel.nodes
        )

    @cached_property
    def buffers_of_operation(self) -> dict[str, tuple[str, ...]]:
        """Operation → the buffers that it writes."""
        return {
            self.key(row.graph, row.name): tuple(self.key(row.graph, buffer) for buffer in row.buffers)
            for row in self.operations
        }

    @cached_property
    def maker_of_buffer(self) -> dict[str, str]:
        """Buffer → the node whose lowering made it."""
        return {
            self.key(row.graph, buffer): self.key(row.graph, row.node)
            for row in self._graph.rows(Lowering)
            for buffer in row.buffers
        }

    def select(self, level: Level, names: Iterable[str | Line | int]) -> Selection:
        """Everything connected with these lines, nodes, buffers, operations or kernels (by position)."""
        wanted = set(names)
        if level == "kernel":
            positions = {name for name in wanted if isinstance(name, int)}
            kernels = [self.kernels[position] for position in positions]
            nodes = {self.key(kernel.graph, node) for kernel in kernels for node in kernel.nodes}
            operations = {self.key(kernel.graph, name) for kernel in kernels for name in kernel.operations}
        elif level in ("operation", "buffer"):
            operations = {name for name in wanted if isinstance(name, str)}
            if level == "buffer":
                operations = {name for buffer in operations for name in self.operations_of_buffer.get(buffer, ())}
            nodes = {node for operation in operations for node in self.nodes_of_operation.get(operation, ())}
            positions = {
                position for operation in operations for position in self.kernels_of_operation.get(operation, ())
            }
        else:
            nodes = {name for name in wanted if isinstance(name, str)}
            if level == "line":
                nodes = {node for line in wanted for node in self.nodes_of_line.get(line, ())}
            operations = {operation for node in nodes for operation in self.operations_of_node.get(node, ())}
            positions = {position for node in nodes for position in self.kernels_of_node.get(node, ())}
        return Selection(
            lines=frozenset(line for node in nodes for line in self.lines_of_node.get(node, ())),
            nodes=frozenset(nodes),
            buffers=frozenset(
                buffer for operation in operations for buffer in self.buffers_of_operation.get(operation, ())
            ),
            operations=frozenset(operations),
            kernels=frozenset(positions),
        )


def _sets(pairs: Iterable[tuple[K, T]]) -> dict[K, set[T]]:
    found: dict[K, set[T]] = {}
    for name, other in pairs:
        found.setdefault(name, set()).add(other)
    return found
