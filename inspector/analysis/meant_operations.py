"""Which scheduler operations a person means: by operation, buffer, FX node, kernel, fused name or the user's line."""

import difflib
import re
from typing import Final

import msgspec

from inspect_compile.analysis.graphs import outermost
from inspect_compile.analysis.lineage import Lineage
from inspect_compile.analysis.operation_names import operations_in
from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Kernel, Lowering, Node, Operation

_LINE: Final = re.compile(r"(.*):(\d+)")
_NEAR: Final = 5
_MOST_NAMES: Final = 20_000


class MeantOperations(msgspec.Struct, frozen=True):
    """Operations before fusion, all of one graph or of one nested in it."""

    asked: str
    graph: str
    operations: tuple[str, ...]
    """In the order of the schedule."""


def meant_operations(dump: Dump, names: tuple[str, ...], graph: str | None = None) -> list[MeantOperations]:
    """What each of `names` stands for, all in one graph. Errors say what there is, or which graph to choose."""
    graphs = [graph] if graph is not None else [one.graph for one in outermost(dump)]
    found = {one: [_in_graph(dump, one, name) for name in names] for one in graphs}
    whole = {one: meant for one, meant in found.items() if all(meant)}
    if len(whole) > 1:
        raise CommandError(f"{' and '.join(names)}: in several graphs; choose one with --graph: {', '.join(whole)}")
    if not whole:
        raise CommandError(_unknown(dump, names, found))
    (outer, meant), *_ = whole.items()
    del outer
    nested = set.intersection(*({of for of, _ in one} for one in meant))
    if not nested:
        where = "; ".join(f"{name} in {meant[i][0][0]}" for i, name in enumerate(names))
        raise CommandError(f"they are in different graphs, each with a schedule of its own: {where}")
    chosen = min(nested, key=len)
    return [
        MeantOperations(name, chosen, tuple(operation for of, operation in one if of == chosen))
        for name, one in zip(names, meant, strict=True)
    ]


def _in_graph(dump: Dump, graph: str, name: str) -> list[tuple[str, str]]:
    """(graph, operation) of all that the name stands for in `graph` and in those nested in it."""
    rows = [row for row in dump.rows(Operation, graph) if row.phase == "pre_fusion"]
    order = {(row.graph, row.name): index for index, row in enumerate(rows)}
    for way in (_by_operation, _by_buffer, _by_kernel, _by_node, _by_line, _by_earlier_node):
        found = way(dump, graph, rows, name.removeprefix("%")) & order.keys()
        if found:
            return sorted(found, key=order.__getitem__)
    return []


def _by_operation(dump: Dump, graph: str, rows: list[Operation], name: str) -> set[tuple[str, str]]:
    named = set(operations_in(name))
    return {(row.graph, row.name) for row in rows if row.name in named or row.name == name}


def _by_buffer(dump: Dump, graph: str, rows: list[Operation], name: str) -> set[tuple[str, str]]:
    return {(row.graph, row.name) for row in rows if name in row.buffers}


def _by_kernel(dump: Dump, graph: str, rows: list[Operation], name: str) -> set[tuple[str, str]]:
    kernels = (row for row in dump.rows(Kernel, graph) if row.name == name)
    return {(row.graph, operation) for row in kernels for operation in row.operations}


def _by_node(dump: Dump, graph: str, rows: list[Operation], name: str) -> set[tuple[str, str]]:
    """The operations that its lowering made; of a node that was computed inside of others, those."""
    path, _, bare = name.rpartition("/")
    suffix = f"/{path}" if path else ""
    made = {
        (row.graph, operation)
        for row in dump.rows(Lowering, graph)
        if row.node == bare and row.graph.endswith(suffix)
        for operation in row.operations
    }
    return made or {(row.graph, row.name) for row in rows if bare in row.nodes and row.graph.endswith(suffix)}


def _by_line(dump: Dump, graph: str, rows: list[Operation], name: str) -> set[tuple[str, str]]:
    match = _LINE.fullmatch(name)
    number = match[2] if match else name
    if not number.isdecimal():
        return set()
    file = match[1].replace("\\", "/") if match else ""
    nodes = {
        node.name
        for node in dump.rows(Node, graph)
        if node.where is not None
        and node.where.line == int(number)
        and f"/{node.where.file}".replace("\\", "/").endswith(f"/{file}" if file else "")
    }
    made = {
        (row.graph, operation)
        for row in dump.rows(Lowering, graph)
        if row.node in nodes
        for operation in row.operations
    }
    return made or {(row.graph, row.name) for row in rows if nodes & set(row.nodes)}


def _by_earlier_node(dump: Dump, graph: str, rows: list[Operation], name: str) -> set[tuple[str, str]]:
    """Of a node of an earlier graph, Dynamo's or the joint one, what came of it."""
    lineage = Lineage(dump, graph)
    kins = {link.kin for kin in lineage.find(name) for link in lineage.descendants(kin)}
    later = {(kin.graph, kin.name) for kin in kins if kin.stage == "post_grad"}
    made = {
        (row.graph, operation)
        for row in dump.rows(Lowering, graph)
        if (row.graph, row.node) in later
        for operation in row.operations
    }
    return made or {(row.graph, row.name) for row in rows if any((row.graph, node) in later for node in row.nodes)}


def _unknown(dump: Dump, names: tuple[str, ...], found: dict[str, list[list[tuple[str, str]]]]) -> str:
    graphs = list(found)
    if not graphs:
        return f"{dump.root}: nothing was compiled"
    missing = [name for index, name in enumerate(names) if not any(meant[index] for meant in found.values())]
    if not missing:
        return f"{' and '.join(names)}: no graph has both; the graphs are: {', '.join(graphs)}"
    known: dict[str, None] = {}
    for graph in graphs:
        for row in dump.rows(Operation, graph):
            known.update(dict.fromkeys((row.name, *row.buffers, *row.nodes)))
        known.update(dict.fromkeys(row.name for row in dump.rows(Kernel, graph)))
    name = missing[0]
    near = difflib.get_close_matches(name[:200], list(known)[:_MOST_NAMES], _NEAR, 0.5)
    told = f"near: {', '.join(near)}" if near else "a node, buffer, operation, kernel or file.py:LINE names one"
    where = f" in {graphs[0]}" if len(graphs) == 1 else ""
    return f"{name}: no operation is meant by this{where}; {told}; all of them: show {dump.root} schedule"
