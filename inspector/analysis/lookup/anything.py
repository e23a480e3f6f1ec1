"""Finds whatever a person names: a graph, a line of the program, a kernel, a node, an operation or a buffer."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Final, Literal

import msgspec

from inspect_compile.analysis.lookup.answer import Answer, Found, unknown
from inspect_compile.analysis.lookup.graphs import find_graphs
from inspect_compile.analysis.lookup.names import Names
from inspect_compile.analysis.lookup.nodes import find_nodes
from inspect_compile.analysis.lookup.operations import find_operations
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel
from inspect_compile.graph import CompiledGraph, Graphs, ProgramLine, file_name, operations_in

Kind = Literal["graph", "line", "kernel", "node", "operation", "buffer"]

MOST: Final = 200
"""Maximum number of things that a part of a name finds."""

_SHORTEST: Final = 4
"""Minimum length of a name from another tool: shorter ones are parts of names."""


class Thing(msgspec.Struct, frozen=True):
    """One thing of a dump that has a name."""

    kind: Kind
    graph: str
    """The graph that it is in, possibly a nested one; for a node of an early stage a compile id."""
    name: str
    """Of a line: `file.py:12`."""
    stage: str = ""
    """Of a node: the stage of its graph."""
    file: str = ""
    """Of a line: its whole path."""
    operations: tuple[str, ...] = ()
    """The operations that an operation's name means: several where it is that of a fused node."""


def find_anything(dump: Dump, text: str) -> Answer[Thing]:
    """All that has this very name; then the kernels that a name from another tool means, unless something has it; then
    all whose names contain it, at most MOST.
    """
    asked = text.strip()
    if asked:
        named = list(_named(dump, asked))
        found = dict.fromkeys(chain(named or _kernels(dump, asked), _containing(dump, asked)))
        if found:
            return Found(tuple(found))
    known = list(_all(dump))
    answer = unknown(dump, asked, "thing", (thing.name for thing in known))
    return replace(answer, there=tuple(dict.fromkeys(thing.name for thing in known if thing.kind == "kernel")))


def _named(dump: Dump, name: str) -> Iterator[Thing]:
    named = find_graphs(dump, name)
    for fact in named.all if isinstance(named, Found) else ():
        if name in (fact.graph, fact.compile_id, fact.kind):
            yield Thing("graph", fact.graph, fact.graph)
    line = ProgramLine.read(name)
    if line is not None:
        for graph in Graphs(dump):
            for node in graph.nodes:
                if node.where is not None and line.is_at(node.where):
                    yield _line(graph, node.where.file, node.where.line)
    for graph in Graphs(dump):
        yield from (Thing("kernel", row.graph, name) for row in graph.rows(Kernel) if row.name == name)
    nodes = find_nodes(Graphs(dump), name) if line is None else None
    for answer in nodes.all if isinstance(nodes, Found) else ():
        if not answer.behind:
            yield from (Thing("node", kin.graph, kin.name, kin.stage) for kin in answer.kins)
    for graph in Graphs(dump):
        operations = find_operations(Graphs(dump, graph.name), (name,)) if line is None else None
        for (meant,) in operations.all if isinstance(operations, Found) else ():
            rows = (row for row in graph.other(meant.graph).operations if row.name in meant.operations)
            if any(name in row.buffers for row in rows):
                yield Thing("buffer", meant.graph, name)
            elif not {name, *operations_in(name)}.isdisjoint(meant.operations):
                yield Thing("operation", meant.graph, name, operations=meant.operations)


def _kernels(dump: Dump, name: str) -> Iterator[Thing]:
    """The kernels that a name from another tool means: cut, a hash, `triton__0d1c`, `output_code.py:31`."""
    if len(name) < _SHORTEST:
        return
    answer = Names(dump).find(name)
    for meant in answer.all if isinstance(answer, Found) else ():
        yield from (Thing("kernel", kernel.graph, kernel.kernel) for kernel in meant.kernels)


def _containing(dump: Dump, text: str) -> Iterator[Thing]:
    folded = text.casefold()
    return islice((thing for thing in _all(dump) if folded in thing.name.casefold()), MOST)


def _all(dump: Dump) -> Iterator[Thing]:
    """Everything with a name: graphs, lines, kernels, nodes of the lowered graphs, operations, buffers."""
    yield from (Thing("graph", graph.name, graph.name) for graph in Graphs(dump))
    for graph in Graphs(dump):
        wheres = (node.where for node in graph.nodes)
        yield from (_line(graph, where.file, where.line) for where in wheres if where is not None)
        yield from (Thing("kernel", row.graph, row.name) for row in graph.rows(Kernel))
        yield from (Thing("node", node.graph, node.name, node.stage) for node in graph.nodes)
        for row in graph.operations:
            yield Thing("operation", row.graph, row.name, operations=(row.name,))
            yield from (Thing("buffer", row.graph, buffer) for buffer in row.buffers)


def _line(graph: CompiledGraph, file: str, line: int) -> Thing:
    return Thing("line", graph.name, f"{file_name(file)}:{line}", file=file)
