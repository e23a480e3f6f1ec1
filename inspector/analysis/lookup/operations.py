"""The scheduler operations that a name stands for: an operation, buffer, FX node, kernel, fused node or source line."""

from collections.abc import Iterator
from typing import NamedTuple

from inspect_compile.analysis.fusion.pair_choice import ResolvedOperations
from inspect_compile.analysis.lookup.answer import Answer, Found, Unknown, unknown
from inspect_compile.analysis.lookup.vanished import vanished
from inspect_compile.facts import Kernel, Lowering, Node, Operation
from inspect_compile.graph import CompiledGraph, Graphs, Id, ProgramLine, enclosing, operations_in, own_name
from inspect_compile.graph.provenance.lineage import NodeRef


class _Meant(NamedTuple):
    """All that a name stands for in a graph and in those nested in it."""

    operations: list[Id]
    """In schedule order."""
    is_loose: bool = False
    nodes: frozenset[Id] = frozenset()
    inlined: tuple[Id, ...] = ()
    """Operations made for other nodes that compute one of `nodes` inline, in schedule order."""


def find_operations(graphs: Graphs, names: tuple[str, ...]) -> Answer[tuple[ResolvedOperations, ...]]:
    """What each of `names` stands for, in each graph that has them all."""
    found = {graph.name: [_in_graph(graph, name) for name in names] for graph in graphs}
    whole = [meant for meant in found.values() if all(one.operations for one in meant)]
    if together := tuple(all_of_it for meant in whole if (all_of_it := _in_one_schedule(names, meant))):
        return Found(together)
    for index, name in enumerate(names):
        if not any(meant[index].operations for meant in found.values()):
            if why := vanished(graphs, name):
                return Unknown(name, "operation", graphs.dump.root, among=graphs.name or "", why=why)
            known = (known for graph in graphs for known in _names(graph))
            return unknown(graphs.dump, name, "operation", known, graphs.name or "")
    each = [
        next(one.operations for meant in (*whole, *found.values()) if (one := meant[index]).operations)
        for index in range(len(names))
    ]
    there = tuple(f"{name} in {operations[0][0]}" for name, operations in zip(names, each, strict=True))
    return Unknown(" and ".join(names), "graph of a pair", graphs.dump.root, there=there)


def _names(graph: CompiledGraph) -> Iterator[str]:
    for row in graph.rows(Operation):
        yield from (row.name, *row.buffers, *row.nodes)
    yield from (row.name for row in graph.rows(Kernel))


def _in_one_schedule(names: tuple[str, ...], meant: list[_Meant]) -> tuple[ResolvedOperations, ...]:
    """The outermost of the graphs, one and those nested in it, that has operations of all; none where none has."""
    nested = set.intersection(*({of for of, _ in one.operations} for one in meant))
    if not nested:
        return ()
    chosen = min(nested, key=len)
    return tuple(
        ResolvedOperations(
            asked=name,
            graph=chosen,
            operations=tuple(operation for of, operation in one.operations if of == chosen),
            is_loose=one.is_loose,
            nodes=frozenset(node for of, node in one.nodes if of == chosen),
            inlined=tuple(operation for of, operation in one.inlined if of == chosen),
        )
        for name, one in zip(names, meant, strict=True)
    )


def _in_graph(graph: CompiledGraph, name: str) -> _Meant:
    """What the name stands for in `graph` and in those nested in it."""
    rows = graph.operations
    order = {Id.of(row): index for index, row in enumerate(rows)}
    name = name.removeprefix("%")
    for way in (_by_operation, _by_buffer, _by_kernel):
        if found := way(graph, rows, name) & order.keys():
            return _Meant(sorted(found, key=order.__getitem__))
    for nodes_of in (_named, _on_line, _later):
        nodes = nodes_of(graph, name)
        origins = {Id.of(row) for row in rows if any(Id(row.graph, node) in nodes for node in row.nodes)}
        made = _made(graph, rows, nodes) & order.keys()
        if found := made or origins:
            is_loose = not made and nodes_of is _named
            inlined = tuple(sorted(origins - made, key=order.__getitem__))
            return _Meant(sorted(found, key=order.__getitem__), is_loose, frozenset(nodes), inlined)
    return _Meant([])


def _by_operation(graph: CompiledGraph, rows: list[Operation], name: str) -> set[Id]:
    named = {name, *operations_in(name)}
    return {Id.of(row) for row in rows if row.name == name or not named.isdisjoint(row.members)}


def _by_buffer(graph: CompiledGraph, rows: list[Operation], name: str) -> set[Id]:
    return {Id.of(row) for row in rows if name in row.buffers}


def _by_kernel(graph: CompiledGraph, rows: list[Operation], name: str) -> set[Id]:
    members = {Id(row.graph, member): row.name for row in rows for member in row.members}
    kernels = [row for row in graph.rows(Kernel) if row.name == name]
    return {Id(row.graph, members.get(Id(row.graph, one), one)) for row in kernels for one in row.operations}


def _named(graph: CompiledGraph, name: str) -> set[Id]:
    """The nodes of that name; `true_graph_0/add` is one of a nested graph."""
    path, bare = enclosing(name), own_name(name)
    suffix = f"/{path}" if path else ""
    names = {row.graph for row in (*graph.rows(Operation), *graph.rows(Lowering))}
    return {Id(of, bare) for of in names if of.endswith(suffix)}


def _on_line(graph: CompiledGraph, name: str) -> set[Id]:
    """The nodes of that line; of one that a pass made, and gave no line, it is that of what it was made from."""
    line = ProgramLine.read(name)
    if line is None:
        return set()
    rows = graph.rows(Node)
    found = [row for row in rows if row.where is not None and line.is_at(row.where)]
    lowered = {Id.of(row) for row in found if row.stage == "post_grad"}
    unplaced = [row for row in rows if row.stage == "post_grad" and row.where is None and row.op == "call_function"]
    if unplaced:
        line_of = graph.lineage.line_of
        places = ((row, line_of(NodeRef.of(row))) for row in unplaced)
        lowered |= {Id.of(row) for row, where in places if where is not None and line.is_at(where)}
    return lowered or {Id.of(row) for row in found}


def _later(graph: CompiledGraph, name: str) -> set[Id]:
    """The lowered nodes that came of a node of an earlier graph, Dynamo's or the joint graph, or of those of a line."""
    lineage, line = graph.lineage, ProgramLine.read(name)
    named = lineage.find(name)
    if line is not None:
        named = [kin for kin, row in lineage.nodes.items() if row.where is not None and line.is_at(row.where)]
    kins = {link.kin for kin in named for link in lineage.descendants(kin)}
    return {Id.of(kin) for kin in kins if kin.stage == "post_grad"}


def _made(graph: CompiledGraph, rows: list[Operation], nodes: set[Id]) -> set[Id]:
    """The operations that were made for nodes.

    What became real only for a reader belongs to the node that it computes, and not to the reader.
    """
    members = {Id(row.graph, member): row.name for row in rows for member in row.members}
    makers = (row for row in graph.rows(Lowering) if Id(row.graph, row.node) in nodes)
    made = {Id(row.graph, members.get(Id(row.graph, one), one)) for row in makers for one in row.operations}
    here = {Id.of(row): [Id(row.graph, node) in nodes for node in row.nodes] for row in rows}
    theirs = {key for key, own in here.items() if own and not any(own)}
    last = {key for key, own in here.items() if own and own[-1]}
    return (made - theirs) | last or made
