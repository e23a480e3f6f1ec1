"""The lowering of a graph, step by step: each node with its arguments as the IR that they were at that time."""

import re
from collections.abc import Iterator

import msgspec

from inspect_compile.analysis.dumps.rows import grouped, lowered_by_name
from inspect_compile.analysis.lowering.ir_text import brief, layout_text
from inspect_compile.dump import Dump
from inspect_compile.facts import Lowering, Node, Realize

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


def lowering_steps(dump: Dump, graph: str) -> Iterator[Step]:
    """The steps of `graph` in the order in which they ended: those of a nested graph come before the node that contains
    it.

    The IR of an argument is derived from the result of its step and what was realized since. torch fixes layouts later
    (FlexibleLayout), which is not visible here.
    """
    nodes = lowered_by_name(dump, graph)
    realizes = grouped(dump.rows(Realize, graph), lambda ask: (ask.graph, ask.index))
    results: dict[tuple[str, str], str] = {}
    real: dict[tuple[str, str], str] = {}
    briefs: dict[tuple[str, str], str] = {}
    for row in dump.rows(Lowering, graph):

        def now(origin: str, of: str = row.graph) -> str | None:
            return real.get((of, origin))

        def told(name: str, of: str = row.graph) -> str:
            if (of, name) not in briefs:
                briefs[of, name] = brief(results.get((of, name), ""), now)
            return briefs[of, name]

        names = dict.fromkeys(name for argument in row.arguments for name in _REFERENCE.findall(argument))
        arguments = [(name, told(name)) for name in names if (row.graph, name) in results]
        asks = realizes.get((row.graph, row.index), [])
        for ask in asks:
            if ask.realized and ask.origin is not None and ask.origin != row.node:
                real[row.graph, ask.origin] = _realized(ask)
                briefs.clear()  # views of it read differently now
        results[row.graph, row.node] = row.result if row.same_as is None else results.get((row.graph, row.same_as), "")
        yield Step(row, nodes.get((row.graph, row.node)), arguments, asks, told(row.node))


def _realized(ask: Realize) -> str:
    layout = _LAYOUT.search(ask.text)
    return f"ComputedBuffer {ask.buffer} {layout_text(layout[1]) if layout else ''}".rstrip()
