"""Values that never became buffers: which operations compute them inline, and for which nodes."""

import re
from typing import Final

import msgspec

from inspect_compile.analysis.dumps.rows import lowered_nodes, scheduled
from inspect_compile.analysis.lowering.from_nothing import readers
from inspect_compile.analysis.lowering.ir_text import LOOPS
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph, Lowering, Operation, Realize

NodeKey = tuple[str, str]
"""A graph, nested or not, and the name of a node in it."""

_VIRTUAL: Final = re.compile(rf"[\[(]?(?:(?:TensorBox|StorageBox|\w*View)\(\s*)*(?:{'|'.join(sorted(LOOPS))})\(")
_REFERENCE: Final = re.compile(r"%([A-Za-z_]\w*)")
_COMPUTING: Final = ("lowering", "pattern")
"""Kinds of lowering that give a node new IR; a view passes on the IR of another node."""


class Inlined(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="inlined"):
    """A node whose value is computed where it is read."""

    graph: str
    node: str
    target: str
    count: int
    """Number of operations that compute it; 0 if nothing that runs needs it."""
    operations: tuple[str, ...]
    """In schedule order; those of a subgraph that is part of a template belong to the enclosing graph."""
    consumers: tuple[str, ...]
    """The nodes whose values these operations compute."""


def inlined(dump: Dump, graph: str) -> dict[NodeKey, Inlined]:
    """The nodes of `graph`, nested graphs included, whose values were never realized, in lowering order."""
    rows = dump.rows(Lowering, graph)
    asks = [ask for ask in dump.rows(Realize, graph) if ask.realized and ask.origin is not None]
    parts = _parts(rows)
    real = {key for ask in asks for key in ((ask.graph, ask.origin), parts.get((ask.graph, ask.origin or "")))}
    computing = _computing(scheduled(dump, graph))
    places = {(of, node): names for of, own in computing.items() for node, names in own.items()}
    from_nothing = readers(lowered_nodes(dump, graph), places)
    values = _values(rows, asks)
    own = {(graph, node) for (graph, _), node in values.items()}
    around = {found.graph: found for found in dump.rows(Graph, graph) if found.parent is not None}
    found: dict[NodeKey, Inlined] = {}
    for row in rows:
        key = (row.graph, row.node)
        if row.way not in _COMPUTING or key in real or not _VIRTUAL.match(row.result):
            continue
        if row.result.startswith(("[", "(")) and key in own:
            continue  # of several values, some are realized
        place = key
        if row.graph not in computing and row.graph in around:
            place = around[row.graph].parent or "", around[row.graph].name
        names = computing.get(place[0], {}).get(place[1]) or from_nothing.get(place, ())
        consumers = dict.fromkeys(values[place[0], name] for name in names if (place[0], name) in values)
        found[key] = Inlined(
            graph=row.graph,
            node=row.node,
            target=row.target,
            count=len(names),
            operations=tuple(names),
            consumers=tuple(node for node in consumers if node != row.node),
        )
    return found


def _computing(operations: list[Operation]) -> dict[str, dict[str, list[str]]]:
    """Graph → node → operations that have the node among their origins."""
    found: dict[str, dict[str, list[str]]] = {}
    for operation in operations:
        of_graph = found.setdefault(operation.graph, {})
        for node in operation.nodes:
            of_graph.setdefault(node, []).append(operation.name)
    return found


def _parts(rows: list[Lowering]) -> dict[NodeKey, NodeKey]:
    """A node that takes one element of a tuple → the node that returns the tuple."""
    found = {}
    for row in rows:
        if row.way == "getitem" and (source := _REFERENCE.search(" ".join(row.arguments))) is not None:
            found[row.graph, row.node] = (row.graph, source[1])
    return found


def _values(rows: list[Lowering], asks: list[Realize]) -> dict[NodeKey, str]:
    """Graph and operation → the node whose value it computes: the lowered node, unless another's value was realized."""
    origins = {(ask.graph, ask.buffer): ask.origin for ask in asks}
    buffers = {(row.graph, name): row.node for row in rows for name in row.operations}
    for row in rows:
        # A buffer has one operation, unless the operation has several buffers or only mutates memory.
        if len(row.buffers) == len(row.operations):
            for buffer, operation in zip(row.buffers, row.operations, strict=True):
                buffers[row.graph, operation] = origins.get((row.graph, buffer)) or row.node
    return buffers
