"""Checks that each node of the graph that Inductor lowered is accounted for in what runs."""

import re
from typing import Final

import msgspec

from inspect_compile.analysis.lowering.from_nothing import readers
from inspect_compile.facts import Graph, Kernel, Lowering, Node, Operation, WrapperLine
from inspect_compile.graph import CompiledGraph, Id, Once

_ON_HOST = ("AssertScalar", "DynamicScalar", "DynamicSelectStorageOffset", "DynamicSliceSize")
"""IR classes of operations that run no kernel: they compute or check a number on the host."""
_NO_VALUES: Final = ("aten.empty", "aten.new_empty")
"""Beginnings of operators that only allocate."""
_VIEW = re.compile(r"TensorBox\(\s*\w*View\(")
_PARTS = re.compile(r"TensorBox\(\s*(\w+)\(")
"""Of each tensor of a list, such as that of a split, what it is made of."""


class NodeCoverage(msgspec.Struct, frozen=True):
    """What became of one post-grad node."""

    graph: str
    node: str
    target: str
    where: str
    """Where it is accounted for, or `missing`.

    kernel, extern: the node is an origin of a generated or an extern kernel; view, getitem, constant: it needs no
    kernel; size: a number, or a check of one, on the host; subgraph: a nested graph replaces it; template: it was built
    into a template kernel of the enclosing graph; storage: its buffer is only allocated, and other kernels write it;
    inline: it reads no buffer, and its code is in that of each reader; empty: its output has no elements; dead: nothing
    reads it, or only dead nodes do, or it is memory without values all of which is written over before anything reads
    it.
    """


class Coverage(msgspec.Struct, frozen=True):
    """The post-grad nodes of one graph, nested graphs included."""

    nodes: list[NodeCoverage]
    unknown: tuple[WrapperLine, ...] = ()
    """Lines of the generated code whose purpose is not known."""

    @property
    def missing(self) -> list[NodeCoverage]:
        """The nodes that nothing accounts for."""
        return [node for node in self.nodes if node.where == "missing"]

    @property
    def share(self) -> float:
        """Share of nodes that are accounted for, between 0 and 1."""
        return 1 - len(self.missing) / len(self.nodes) if self.nodes else 1.0


@Once
def coverage(graph: CompiledGraph) -> Coverage:
    """What became of each post-grad node of `graph`."""
    in_kernel: dict[Id, str] = {}
    scheduled = set()
    for kernel in graph.rows(Kernel):
        scheduled.add(kernel.graph)
        for name in kernel.nodes:
            if in_kernel.get(Id(kernel.graph, name)) != "kernel":
                in_kernel[Id(kernel.graph, name)] = "extern" if kernel.kind == "extern" else "kernel"
    lowerings = graph.rows(Lowering)
    ways = {Id(row.graph, row.node): _way(row) for row in lowerings}
    operations = graph.rows(Operation)
    bare = {Id.of(row) for row in operations if row.kind == "nop"}
    storage = {
        Id(row.graph, row.node) for row in lowerings if row.operations and Id(row.graph, row.operations[-1]) in bare
    }
    read = {Id(row.graph, access.buffer) for row in operations for access in row.reads}
    unused = {
        Id(row.graph, row.node)
        for row in lowerings
        if row.target.startswith(_NO_VALUES) and read.isdisjoint(Id(row.graph, buffer) for buffer in row.buffers)
    }
    on_host = {Id.of(row) for row in operations if row.ir_type in _ON_HOST}
    checks = {
        Id(row.graph, row.node) for row in lowerings if any(Id(row.graph, one) in on_host for one in row.operations)
    }
    parents = {found.graph: found.parent for found in graph.rows(Graph) if found.parent}
    nodes = graph.nodes
    unread = _unread(nodes, in_kernel.keys() | checks)
    inline = readers(nodes, {key: (kind,) for key, kind in in_kernel.items()})
    found = []
    for node in nodes:
        key = Id.of(node)
        where = _place(node, in_kernel.get(key), ways.get(key, ""))
        if where in ("missing", "size") and node.graph in parents and node.graph not in scheduled:
            where = "template"
        elif where == "missing" and _is_empty(node):
            where = "empty"
        elif where == "missing" and inline.get(key):
            where = "inline"
        elif where == "missing" and key in storage:
            where = "storage"
        elif where in ("missing", "dead") and key in checks:
            where = "size"
        elif where == "missing" and (key in unread or (operations and key in unused)):
            where = "dead"
        found.append(NodeCoverage(*key, node.target, where))
    lines = graph.rows(WrapperLine)
    return Coverage(found, tuple(row for row in lines if row.what == "other" and row.line is not None))


def _is_empty(node: Node) -> bool:
    return bool(node.values) and all(0 in value.size for value in node.values)


def _unread(nodes: list[Node], run: set[Id]) -> set[Id]:
    """Nodes that are read by nothing, or only by unread or empty nodes; `run` holds the nodes that are known to run."""
    found: set[Id] = set()
    for node in reversed(nodes):
        key = Id.of(node)
        is_inner = node.op not in ("placeholder", "output") and key not in run
        if is_inner and (_is_empty(node) or all(Id(node.graph, user) in found for user in node.users)):
            found.add(key)
    return found


def _way(row: Lowering) -> str:
    """The kind of a lowering; a view that realized its base counts as a view."""
    parts = _PARTS.findall(row.result) if row.result.startswith(("[", "(")) else []
    is_split = bool(parts) and all(part.endswith("View") for part in parts)
    return "view" if is_split or _VIEW.match(row.result) else row.way


def _place(node: Node, kernel: str | None, way: str) -> str:
    if node.op in ("placeholder", "output"):
        return node.op
    if kernel is not None:
        return kernel
    if node.op == "get_attr":
        return "constant"
    if way in ("view", "getitem", "subgraph"):
        return way
    if not node.users:
        return "dead"
    return "missing" if node.values else "size"
