"""The lowering of a graph, step by step: each node with its arguments as the IR that they were at that time."""

import re
from collections.abc import Iterator

import msgspec

from inspect_compile.analysis.lowering.ir_text import brief, layout_text
from inspect_compile.facts import Lowering, Node, Realize
from inspect_compile.graph import CompiledGraph, Id, grouped

_REFERENCE = re.compile(r"%([A-Za-z_]\w*)")
_LAYOUT = re.compile(r"layout=(\w+Layout\(.{,2000}?\)), data=")


class Step(msgspec.Struct, frozen=True):
    """The lowering of one node to IR."""

    row: Lowering
    node: Node | None
    """The node; None in a dump whose nodes table is damaged."""
    arguments: list[tuple[str, str]]
    """Each node that it reads, with that node's IR at the time, on one line."""
    realizes: list[Realize]
    """Values that were realized meanwhile, in order."""
    result: str
    """The result, on one line."""


def lowering_steps(graph: CompiledGraph) -> Iterator[Step]:
    """The steps of `graph` in the order in which they ended: those of a nested graph come before the node that contains
    it.

    The IR of an argument is derived from the result of its step and what was realized since. torch fixes layouts later
    (FlexibleLayout), which is not visible here.
    """
    nodes = graph.node_of
    realizes = grouped(graph.rows(Realize), lambda ask: (ask.graph, ask.index))
    results: dict[Id, str] = {}
    real: dict[Id, str] = {}
    briefs: dict[Id, str] = {}
    for row in graph.rows(Lowering):

        def now(origin: str, of: str = row.graph) -> str | None:
            return real.get(Id(of, origin))

        def brief_of(name: str, of: str = row.graph) -> str:
            if Id(of, name) not in briefs:
                briefs[Id(of, name)] = brief(results.get(Id(of, name), ""), now)
            return briefs[Id(of, name)]

        names = dict.fromkeys(name for argument in row.arguments for name in _REFERENCE.findall(argument))
        arguments = [(name, brief_of(name)) for name in names if Id(row.graph, name) in results]
        asks = realizes.get((row.graph, row.index), [])
        for ask in asks:
            if ask.realized and ask.origin is not None and ask.origin != row.node:
                real[Id(row.graph, ask.origin)] = _realized(ask)
                briefs.clear()  # views of it read differently now
        results[Id(row.graph, row.node)] = (
            row.result if row.same_as is None else results.get(Id(row.graph, row.same_as), "")
        )
        yield Step(row, nodes.get(Id(row.graph, row.node)), arguments, asks, brief_of(row.node))


def _realized(ask: Realize) -> str:
    layout = _LAYOUT.search(ask.text)
    return f"ComputedBuffer {ask.buffer} {layout_text(layout[1]) if layout else ''}".rstrip()
