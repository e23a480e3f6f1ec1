"""What kernels compute: the FX node, and so the source line, of each statement."""

from collections.abc import Iterable
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING

import msgspec

from inspect_compile.facts import Kernel, KernelBody, Location, Node, StatementNodes
from inspect_compile.graph.ids import Id
from inspect_compile.graph.provenance.lineage import Lineage, NodeRef
from inspect_compile.graph.rows import grouped

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph

_MOST = 64
"""Maximum number of loops of a node, and of kernels of a loop, that are distinguished."""


class Annotated(msgspec.Struct, frozen=True, tag_field="fact", tag="statement"):
    """One line of a kernel's source, and its origin."""

    graph: str
    kernel: str
    line: int
    """Line number in the kernel's source."""
    text: str
    operator: str
    """The operator of torch's loop body; empty if no node is known."""
    nodes: tuple[str, ...]
    modules: tuple[str, ...]
    """Paths of their nn.Modules."""
    lines: tuple[Location, ...]
    """Lines of the user's program, each once."""
    operations: tuple[str, ...] = ()
    """Operations of the call; a source that runs for several groups of operations has statements for each."""


class Computed(msgspec.Struct, frozen=True):
    """An FX node that a part of a kernel belongs to."""

    node: str
    recomputed: tuple[str, ...] = ()
    """Other kernels that compute the same again."""
    staged: tuple[str, ...] = ()
    """Other kernels with other stages of its computation."""


class Statements:
    """The statements of the kernels of one graph, nested graphs included; read on demand."""

    def __init__(self, graph: "CompiledGraph") -> None:
        self._graph = graph
        self._lines: dict[Id, Location | None] = {}

    @cached_property
    def bodies(self) -> dict[Id, list[KernelBody]]:
        """(graph, kernel) → its rows."""
        return grouped(self._graph.rows(KernelBody), lambda body: Id(body.graph, body.kernel))

    @cached_property
    def _bodies_of(self) -> dict[Id, dict[int, list[KernelBody]]]:
        """(graph, node) → its loops → the bodies that contain them."""
        found: dict[Id, dict[int, list[KernelBody]]] = {}
        for bodies in self.bodies.values():
            for body in bodies:
                for node, loops in zip(body.nodes, body.loops, strict=False):
                    known = found.setdefault(Id(body.graph, node), {})
                    for loop in loops:
                        if len(known) < _MOST and len(rows := known.setdefault(loop, [])) < _MOST:
                            rows.append(body)
        return found

    @cached_property
    def _nodes(self) -> dict[Id, Node]:
        return self._graph.node_of

    @cached_property
    def _lineage(self) -> Lineage:
        return self._graph.lineage

    def line_of(self, graph: str, name: str) -> Location | None:
        """Source line of a node; for a node that a pass made, that of the nearest node it was made from."""
        node = self._nodes.get(Id(graph, name))
        if node is None or node.where is not None:
            return None if node is None else node.where
        if Id(graph, name) not in self._lines:
            self._lines[Id(graph, name)] = self._lineage.line_of(NodeRef.of(node))
        return self._lines[Id(graph, name)]

    def module_of(self, graph: str, name: str) -> str:
        """Path of the nn.Module that a node belongs to; empty at the top."""
        node = self._nodes.get(Id(graph, name))
        return "" if node is None else node.module

    def body(self, graph: str, kernel: str, operations: Iterable[str] = ()) -> KernelBody | None:
        """The body of a kernel for the call that runs these operations, or the first one."""
        rows = self.bodies.get(Id(graph, kernel), [])
        wanted = set(operations)
        return next((row for row in rows if wanted.intersection(row.operations)), rows[0] if rows else None)

    def computed(self, body: KernelBody) -> list[Computed]:
        """The nodes that parts of a kernel belong to, in graph order."""
        found, own = [], set(body.operations)
        for node, loops in zip(body.nodes, body.loops, strict=False):
            if not loops:
                continue
            known = self._bodies_of[Id(body.graph, node)]
            # Of several kernels for the same operations, only one runs.
            apart = {
                loop: [one.kernel for one in rows if not own.intersection(one.operations)]
                for loop, rows in known.items()
            }
            again = dict.fromkeys(name for loop in loops for name in apart.get(loop, ()))
            stages = dict.fromkeys(name for loop, names in apart.items() if loop not in loops for name in names)
            found.append(Computed(node, tuple(again), tuple(name for name in stages if name not in again)))
        return found

    def annotated(self, kernel: Kernel, body: KernelBody, text: str) -> list[Annotated]:
        """The statements of a kernel whose source is `text`, including those without a known node."""
        source = text.splitlines()
        found = []
        for row in sorted(
            [*body.statements, *(StatementNodes(line, -1, ()) for line in body.unmapped)], key=attrgetter("line")
        ):
            named = tuple(at(body.nodes, index) for index in row.nodes)
            where = (self.line_of(body.graph, name) for name in named)
            modules = (self.module_of(body.graph, name) for name in named)
            found.append(
                Annotated(
                    graph=body.graph,
                    kernel=kernel.name,
                    line=row.line,
                    text=source[row.line - 1].strip() if 0 < row.line <= len(source) else "",
                    operator=at(body.operators, row.operator) if named else "",
                    nodes=named,
                    modules=tuple(dict.fromkeys(module for module in modules if module)),
                    lines=tuple(dict.fromkeys(place for place in where if place is not None)),
                    operations=body.operations,
                )
            )
        return found

    def all_annotated(self, kernel: Kernel, operations: Iterable[str] = ()) -> list[Annotated]:
        """The statements of a kernel, chosen as in `body`; empty if they, or its source, were not recorded."""
        body = self.body(kernel.graph, kernel.name, operations)
        text = self._text(kernel)
        return [] if body is None or text is None else self.annotated(kernel, body, text)

    def of_all_calls(self, kernel: Kernel) -> list[Annotated]:
        """The statements of a kernel, each once, with the nodes of all its calls: it is compiled once for them all."""
        text = self._text(kernel)
        bodies = self.bodies.get(Id.of(kernel), ()) if text is not None else ()
        by_line = grouped(
            (row for body in bodies for row in self.annotated(kernel, body, text or "")), attrgetter("line")
        )
        return [_joined(by_line[line]) for line in sorted(by_line)]

    def _text(self, kernel: Kernel) -> str | None:
        return self._graph.dump.text(kernel.graph, kernel.source) if kernel.source else None


def _joined(rows: list[Annotated]) -> Annotated:
    """One statement, of the nodes of several calls."""
    if len(rows) == 1:
        return rows[0]
    return msgspec.structs.replace(
        rows[0],
        operator=next((row.operator for row in rows if row.operator), ""),
        nodes=tuple(dict.fromkeys(name for row in rows for name in row.nodes)),
        modules=tuple(dict.fromkeys(name for row in rows for name in row.modules)),
        lines=tuple(dict.fromkeys(where for row in rows for where in row.lines)),
        operations=tuple(dict.fromkeys(name for row in rows for name in row.operations)),
    )


def at(names: tuple[str, ...], index: int, otherwise: str = "?") -> str:
    """The name at that position of a row; `otherwise` in a damaged dump, where it may have none."""
    return names[index] if 0 <= index < len(names) else otherwise
