"""Values that never became buffers: which operations compute them inline, and for which nodes."""

import re
from typing import Final

import msgspec

from inspect_compile.analysis.lowering.from_nothing import readers
from inspect_compile.analysis.lowering.ir_text import LOOPS
from inspect_compile.facts import Graph, Lowering, Operation, Realize
from inspect_compile.graph import CompiledGraph, Id

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


def inlined(graph: CompiledGraph) -> dict[Id, Inlined]:
    """The nodes of `graph`, nested graphs included, whose values were never realized, in lowering order."""
    rows = graph.rows(Lowering)
    asks = [ask for ask in graph.rows(Realize) if ask.realized and ask.origin is not None]
    parts = _parts(rows)
    real = {
        key for ask in asks for key in (Id(ask.graph, ask.origin or ""), parts.get(Id(ask.graph, ask.origin or "")))
    }
    computing = _computing(graph.operations)
    places = {Id(of, node): names for of, own in computing.items() for node, names in own.items()}
    from_nothing = readers(graph.nodes, places)
    values = _values(rows, asks)
    own = {Id(of, node) for (of, _), node in values.items()}
    around = {found.graph: found for found in graph.rows(Graph) if found.parent is not None}
    found: dict[Id, Inlined] = {}
    for row in rows:
        key = Id(row.graph, row.node)
        if row.way not in _COMPUTING or key in real or not _VIRTUAL.match(row.result):
            continue
        if row.result.startswith(("[", "(")) and key in own:
            continue  # of several values, some are realized
        place = key
        if row.graph not in computing and row.graph in around:
            place = Id(around[row.graph].parent or "", around[row.graph].name)
        names = computing.get(place[0], {}).get(place[1]) or from_nothing.get(place, ())
        consumers = dict.fromkeys(values[one] for one in (Id(place.graph, name) for name in names) if one in values)
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


def _parts(rows: list[Lowering]) -> dict[Id, Id]:
    """A node that takes one element of a tuple → the node that returns the tuple."""
    found = {}
    for row in rows:
        if row.way == "getitem" and (source := _REFERENCE.search(" ".join(row.arguments))) is not None:
            found[Id(row.graph, row.node)] = Id(row.graph, source[1])
    return found


def _values(rows: list[Lowering], asks: list[Realize]) -> dict[Id, str]:
    """Graph and operation → the node whose value it computes: the lowered node, unless another's value was realized."""
    origins = {Id(ask.graph, ask.buffer or ""): ask.origin for ask in asks}
    buffers = {Id(row.graph, name): row.node for row in rows for name in row.operations}
    for row in rows:
        # A buffer has one operation, unless the operation has several buffers or only mutates memory.
        if len(row.buffers) == len(row.operations):
            for buffer, operation in zip(row.buffers, row.operations, strict=True):
                buffers[Id(row.graph, operation)] = origins.get(Id(row.graph, buffer)) or row.node
    return buffers
