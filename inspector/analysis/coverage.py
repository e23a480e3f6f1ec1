"""Is each node of the graph that Inductor lowered accounted for in what runs?"""

import re

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import Graph, Kernel, Lowering, Node, Operation

ACCOUNTED = (
    "kernel",
    "extern",
    "view",
    "getitem",
    "constant",
    "size",
    "subgraph",
    "template",
    "storage",
    "placeholder",
    "output",
    "dead",
)


_VIEW = re.compile(r"TensorBox\(\s*\w*View\(")


class NodeCoverage(msgspec.Struct, frozen=True):
    """What became of one post-grad node."""

    graph: str
    node: str
    target: str
    where: str
    """One of `ACCOUNTED`, or missing.

    kernel, extern: it is an origin of a generated or an extern kernel; view, getitem, constant, size: it needs none;
    subgraph: a nested graph stands for it; template: it was built into a template kernel of the graph around it;
    storage: its buffer is only allocated, and written by the kernels of others; dead: nothing reads it.
    """


class Coverage(msgspec.Struct, frozen=True):
    """The post-grad nodes of one graph, nested graphs included."""

    nodes: list[NodeCoverage]

    @property
    def missing(self) -> list[NodeCoverage]:
        """The nodes that nothing accounts for."""
        return [node for node in self.nodes if node.where == "missing"]

    @property
    def share(self) -> float:
        """Accounted for, between 0 and 1."""
        return 1 - len(self.missing) / len(self.nodes) if self.nodes else 1.0


def coverage(dump: Dump, graph: str) -> Coverage:
    """Say of each post-grad node of `graph` where it went."""
    in_kernel: dict[tuple[str, str], str] = {}
    scheduled = set()
    for kernel in dump.rows(Kernel, graph):
        scheduled.add(kernel.graph)
        for name in kernel.nodes:
            if in_kernel.get((kernel.graph, name)) != "kernel":
                in_kernel[kernel.graph, name] = "extern" if kernel.kind == "extern" else "kernel"
    lowerings = dump.rows(Lowering, graph)
    ways = {(row.graph, row.node): _way(row) for row in lowerings}
    bare = {(row.graph, row.name) for row in dump.rows(Operation, graph) if row.kind == "nop"}
    storage = {(row.graph, row.node) for row in lowerings if row.operations and (row.graph, row.operations[-1]) in bare}
    parents = {found.graph: found.parent for found in dump.rows(Graph, graph) if found.parent}
    found = []
    for node in dump.rows(Node, graph):
        if node.stage != "post_grad":
            continue
        where = _place(node, in_kernel.get((node.graph, node.name)), ways.get((node.graph, node.name), ""))
        if where in ("missing", "size") and node.graph in parents and node.graph not in scheduled:
            where = "template"
        if where == "missing" and (node.graph, node.name) in storage:
            where = "storage"
        found.append(NodeCoverage(node.graph, node.name, node.target, where))
    return Coverage(found)


def _way(row: Lowering) -> str:
    """The way of a lowering; a view that made its own base real is a view too."""
    return "view" if _VIEW.match(row.result) else row.way


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
