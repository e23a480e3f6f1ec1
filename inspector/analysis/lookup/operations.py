"""The scheduler operations that a name stands for: an operation, buffer, FX node, kernel, fused node or source line."""

from collections.abc import Callable, Iterator

from inspect_compile.analysis.dumps.graphs import outermost
from inspect_compile.analysis.dumps.names import ProgramLine, operations_in
from inspect_compile.analysis.dumps.rows import scheduled
from inspect_compile.analysis.fusion.pair_story import ResolvedOperations
from inspect_compile.analysis.lookup.answer import Answer, Found, Unknown, unknown
from inspect_compile.analysis.provenance.lineage import Lineage
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel, Lowering, Node, Operation

_Found = tuple[list[tuple[str, str]], bool]
"""(graph, operation) of all that a name stands for; is it loosely so?"""


def find_operations(
    dump: Dump, names: tuple[str, ...], graph: str | None = None
) -> Answer[tuple[ResolvedOperations, ...]]:
    """What each of `names` stands for, in each graph that has them all."""
    graphs = [graph] if graph is not None else [one.graph for one in outermost(dump)]
    found = {one: [_in_graph(dump, one, name) for name in names] for one in graphs}
    whole = [meant for meant in found.values() if all(there for there, _ in meant)]
    if together := tuple(all_of_it for meant in whole if (all_of_it := _in_one_schedule(names, meant))):
        return Found(together)
    for index, name in enumerate(names):
        if not any(meant[index][0] for meant in found.values()):
            known = (known for one in graphs for known in _names(dump, one))
            return unknown(dump, name, "operation", known, graph or "")
    each = [
        next(meant[index][0] for meant in (*whole, *found.values()) if meant[index][0]) for index in range(len(names))
    ]
    there = tuple(f"{name} in {operations[0][0]}" for name, operations in zip(names, each, strict=True))
    return Unknown(" and ".join(names), "graph of a pair", dump.root, there=there)


def _names(dump: Dump, graph: str) -> Iterator[str]:
    for row in dump.rows(Operation, graph):
        yield from (row.name, *row.buffers, *row.nodes)
    yield from (row.name for row in dump.rows(Kernel, graph))


def _in_one_schedule(names: tuple[str, ...], meant: list[_Found]) -> tuple[ResolvedOperations, ...]:
    """The outermost of the graphs, one and those nested in it, that has operations of all; none where none has."""
    nested = set.intersection(*({of for of, _ in there} for there, _ in meant))
    if not nested:
        return ()
    chosen = min(nested, key=len)
    return tuple(
        ResolvedOperations(name, chosen, tuple(operation for of, operation in there if of == chosen), is_loose)
        for name, (there, is_loose) in zip(names, meant, strict=True)
    )


def _in_graph(dump: Dump, graph: str, name: str) -> _Found:
    """What the name stands for in `graph` and in those nested in it."""
    rows = scheduled(dump, graph)
    order = {(row.graph, row.name): index for index, row in enumerate(rows)}
    for way in (_by_operation, _by_buffer, _by_kernel, _by_maker, _by_origin, _by_line, _by_earlier_node):
        found = way(dump, graph, rows, name.removeprefix("%")) & order.keys()
        if found:
            return sorted(found, key=order.__getitem__), way is _by_origin
    return [], False


def _by_operation(dump: Dump, graph: str, rows: list[Operation], name: str) -> set[tuple[str, str]]:
    named = {name, *operations_in(name)}
    return {(row.graph, row.name) for row in rows if row.name == name or not named.isdisjoint(row.members)}


def _by_buffer(dump: Dump, graph: str, rows: list[Operation], name: str) -> set[tuple[str, str]]:
    return {(row.graph, row.name) for row in rows if name in row.buffers}


def _by_kernel(dump: Dump, graph: str, rows: list[Operation], name: str) -> set[tuple[str, str]]:
    members = {(row.graph, member): row.name for row in rows for member in row.members}
    kernels = [row for row in dump.rows(Kernel, graph) if row.name == name]
    return {(row.graph, members.get((row.graph, one), one)) for row in kernels for one in row.operations}


def _by_maker(dump: Dump, graph: str, rows: list[Operation], name: str) -> set[tuple[str, str]]:
    """The operations that a node's lowering made."""
    path, _, bare = name.rpartition("/")
    return _made(dump, graph, rows, lambda row: row.node == bare and row.graph.endswith(f"/{path}" if path else ""))


def _by_origin(dump: Dump, graph: str, rows: list[Operation], name: str) -> set[tuple[str, str]]:
    """The operations that have the node as an origin, for a node whose lowering made none."""
    path, _, bare = name.rpartition("/")
    suffix = f"/{path}" if path else ""
    return {(row.graph, row.name) for row in rows if bare in row.nodes and row.graph.endswith(suffix)}


def _made(dump: Dump, graph: str, rows: list[Operation], is_meant: Callable[[Lowering], bool]) -> set[tuple[str, str]]:
    members = {(row.graph, member): row.name for row in rows for member in row.members}
    makers = (row for row in dump.rows(Lowering, graph) if is_meant(row))
    return {(row.graph, members.get((row.graph, one), one)) for row in makers for one in row.operations}


def _by_line(dump: Dump, graph: str, rows: list[Operation], name: str) -> set[tuple[str, str]]:
    line = ProgramLine.read(name)
    if line is None:
        return set()
    nodes = {node.name for node in dump.rows(Node, graph) if node.where is not None and line.is_at(node.where)}
    made = _made(dump, graph, rows, lambda row: row.node in nodes)
    # What became real only for a reader in another line belongs to the line whose node it computes.
    theirs = {(row.graph, row.name) for row in rows if nodes.isdisjoint(row.nodes) and row.nodes}
    last = {(row.graph, row.name) for row in rows if row.nodes and row.nodes[-1] in nodes}
    return (made - theirs) | last or made or {(row.graph, row.name) for row in rows if nodes & set(row.nodes)}


def _by_earlier_node(dump: Dump, graph: str, rows: list[Operation], name: str) -> set[tuple[str, str]]:
    """The operations that came of a node of an earlier graph, Dynamo's or the joint graph."""
    lineage = Lineage(dump, graph)
    kins = {link.kin for kin in lineage.find(name) for link in lineage.descendants(kin)}
    later = {(kin.graph, kin.name) for kin in kins if kin.stage == "post_grad"}
    made = _made(dump, graph, rows, lambda row: (row.graph, row.node) in later)
    return made or {(row.graph, row.name) for row in rows if any((row.graph, node) in later for node in row.nodes)}
