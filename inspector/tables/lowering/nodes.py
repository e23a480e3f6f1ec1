"""The FX nodes of each graph as Inductor lowered it."""

from collections.abc import Sequence
from typing import Final

from inspect_compile.analysis.lowering.ir_text import dtype_text
from inspect_compile.facts import Node, Tensor
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables.columns import Cell, Column, Span, cell, place_cell, plain
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.text import code_text, nested_name, number_of

EDGES: Final = frozenset({"placeholder", "output", "get_attr"})
"""Ops of nodes that compute nothing."""


def value_text(values: tuple[Tensor, ...]) -> str:
    """`f32[10, 88, 78]`; of several values the first and their number."""
    return plain(_value(values))


def _value(values: tuple[Tensor, ...]) -> Cell:
    if not values:
        return ()
    size = Span(f"[{', '.join(map(str, values[0].size))}]")
    more = cell(f" and {len(values) - 1} more", "dim") if len(values) > 1 else ()
    return Span(dtype_text(values[0].dtype), "type"), size, *more


def _role(node: Node) -> str:
    return "dim" if node.op in EDGES else ""


def _name(node: Node) -> Cell:
    return cell(nested_name(node.graph, node.name), _role(node) or "name")


def _target(node: Node) -> Cell:
    return cell(node.op if node.op in ("placeholder", "output") else node.target, _role(node))


def _module(node: Node) -> str:
    return f"{node.module} ({node.module_type})" if node.module_type else node.module


def _stride(node: Node) -> str:
    return "".join(f"({', '.join(map(str, value.stride))})" for value in node.values[:1])


COLUMNS: Final[tuple[Column[Node], ...]] = (
    Column("node", _name, stretch=True, least=12, most=40, middle=True),
    Column("target", _target, stretch=True, least=18, most=40),
    Column("value", lambda node: _value(node.values), stretch=True, least=18, most=40),
    Column("where", lambda node: place_cell(node.where), most=44, drop=1),
    Column("module", _module, role="dim", stretch=True, least=16, most=40, drop=3),
    Column("stride", _stride, role="dim", stretch=True, least=16, most=28, drop=2),
    Column("reads", lambda node: ", ".join(node.inputs), role="dim", stretch=True, least=16, most=60, drop=5),
    Column("code", lambda node: code_text(node.where), role="dim", stretch=True, least=20, drop=4),
)


def _nodes(graph: CompiledGraph) -> list[Node]:
    """Those after all passes; of an origin that has none, such as an exported program, those before Inductor's."""
    if graph.nodes or not graph.dump.run.origin:
        return graph.nodes
    return [node for node in graph.rows(Node) if node.stage == "aot"]


def _summary(found: Sequence[Node]) -> str:
    is_before = any(node.stage == "aot" for node in found)
    return f"{number_of(len(found), 'FX node')} {'before the passes of Inductor' if is_before else 'after all passes'}"


TABLE: Final = Listing[Node]("nodes", COLUMNS, _nodes, summary=_summary).table(Node)
