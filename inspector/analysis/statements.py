"""What kernels really compute, and of which FX node, and so of which line of the program, each statement is."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Kernel, KernelBody, Location, Node


class Annotated(msgspec.Struct, frozen=True, tag_field="fact", tag="statement"):
    """One line of a kernel's source, with what it is of."""

    graph: str
    kernel: str
    line: int
    """In the kernel's source."""
    text: str
    operator: str
    """What torch's loop body does there; empty where no node is known."""
    nodes: tuple[str, ...]
    lines: tuple[Location, ...]
    """The user's, each once."""


class Computed(msgspec.Struct, frozen=True):
    """An FX node that owns some of what a kernel computes."""

    node: str
    recomputed: tuple[str, ...] = ()
    """Other kernels that compute the same once more."""
    staged: tuple[str, ...] = ()
    """Other kernels with other stages of its computation."""


class Statements:
    """The statements of the kernels of one graph, nested graphs included."""

    def __init__(self, dump: Dump, graph: str) -> None:
        self._dump = dump
        self.bodies: dict[tuple[str, str], list[KernelBody]] = {}
        """(graph, kernel) → its rows."""
        self._kernels_of: dict[tuple[str, str], dict[int, dict[str, None]]] = {}
        """(graph, node) → its loops → the kernels that they are in."""
        for body in dump.rows(KernelBody, graph):
            self.bodies.setdefault((body.graph, body.kernel), []).append(body)
            for node, loops in zip(body.nodes, body.loops, strict=False):
                known = self._kernels_of.setdefault((body.graph, node), {})
                for loop in loops:
                    known.setdefault(loop, {})[body.kernel] = None
        self._where = {
            (node.graph, node.name): node.where
            for node in dump.rows(Node, graph)
            if node.stage == "post_grad" and node.where is not None
        }

    def body(self, graph: str, kernel: str, operations: Iterable[str] = ()) -> KernelBody | None:
        """The row of a kernel, that of a call which runs these operations, or the first one."""
        rows = self.bodies.get((graph, kernel), [])
        wanted = set(operations)
        return next((row for row in rows if wanted.issuperset(row.operations)), rows[0] if rows else None)

    def computed(self, body: KernelBody) -> list[Computed]:
        """The nodes that own some of what a kernel computes, in the graph's order."""
        found = []
        for node, loops in zip(body.nodes, body.loops, strict=False):
            if not loops:
                continue
            known = self._kernels_of[body.graph, node]
            again = dict.fromkeys(name for loop in loops for name in known[loop] if name != body.kernel)
            own = set(loops)
            stages = (name for loop, names in known.items() if loop not in own for name in names)
            found.append(
                Computed(
                    node,
                    tuple(again),
                    tuple(dict.fromkeys(name for name in stages if name != body.kernel and name not in again)),
                )
            )
        return found

    def annotated(self, kernel: Kernel, body: KernelBody, text: str) -> list[Annotated]:
        """The statements of a kernel whose source is `text`, those that nobody is known to own too."""
        source = text.splitlines()
        rows = [*body.statements, *body.unmapped]
        found = []
        for row in sorted(rows, key=lambda row: row if isinstance(row, int) else row.line):
            line = row if isinstance(row, int) else row.line
            named = () if isinstance(row, int) else tuple(_at(body.nodes, index) for index in row.nodes)
            where = (self._where.get((body.graph, name)) for name in named)
            found.append(
                Annotated(
                    graph=body.graph,
                    kernel=kernel.name,
                    line=line,
                    text=source[line - 1].strip() if 0 < line <= len(source) else "",
                    operator="" if isinstance(row, int) else _at(body.operators, row.operator),
                    nodes=named,
                    lines=tuple(dict.fromkeys(place for place in where if place is not None)),
                )
            )
        return found

    def all_annotated(self, kernel: Kernel) -> list[Annotated]:
        """The statements of a kernel; none where they, or its source, were not recorded."""
        body = self.body(kernel.graph, kernel.name)
        text = self._dump.text(kernel.graph, kernel.source) if kernel.source else None
        return [] if body is None or text is None else self.annotated(kernel, body, text)


def _at(names: tuple[str, ...], index: int) -> str:
    return names[index] if 0 <= index < len(names) else "?"


def kernels_named(dump: Dump, graph: str | None, name: str) -> Iterator[Kernel]:
    """The kernels that `name` means: one of that name, or all that have it as a part of theirs."""
    known: dict[tuple[str, str], Kernel] = {}
    for row in dump.rows(Kernel, graph):
        if row.kind != "extern":
            known.setdefault((row.graph, row.name), row)
    exact = [row for row in known.values() if row.name == name]
    found = exact or [row for row in known.values() if name in row.name]
    if not found:
        names = list(dict.fromkeys(row.name for row in known.values()))
        near = get_close_matches(name, names, n=5, cutoff=0.4) or names[:5]
        there = f"there are {', '.join(near)}" if near else "the generated code defines none"
        raise CommandError(f"{dump.root}: no kernel {name}; {there}; all of them: show {dump.root} kernels")
    yield from found
