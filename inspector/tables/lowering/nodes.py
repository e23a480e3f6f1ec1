"""The FX nodes of each graph as Inductor lowered it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.lowering.ir_text import dtype_text
from inspect_compile.facts import Node, Tensor
from inspect_compile.tables.columns import Cell, Column, Span, cell, plain
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.text import nested_name, number_of, one_line, place_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

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


NODE: Final[Column[Node]] = Column(
    "node",
    lambda node: cell(nested_name(node.graph, node.name), _role(node) or "name"),
    stretch=True,
    least=12,
    most=40,
    middle=True,
)
COLUMNS: Final[tuple[Column[Node], ...]] = (
    NODE,
    Column(
        "target",
        lambda node: cell(node.op if node.op in ("placeholder", "output") else node.target, _role(node)),
        stretch=True,
        least=18,
        most=40,
    ),
    Column("value", lambda node: _value(node.values), stretch=True, least=18, most=40),
    Column("where", lambda node: place_text(node.where), role="dim", most=30, drop=1),
    Column(
        "module",
        lambda node: f"{node.module} ({node.module_type})" if node.module_type else node.module,
        role="dim",
        stretch=True,
        least=16,
        most=40,
        drop=3,
    ),
    Column(
        "stride",
        lambda node: "".join(f"({', '.join(map(str, value.stride))})" for value in node.values[:1]),
        role="dim",
        stretch=True,
        least=16,
        most=28,
        drop=2,
    ),
    Column("reads", lambda node: ", ".join(node.inputs), role="dim", stretch=True, least=16, most=60, drop=5),
    Column(
        "code",
        lambda node: one_line(node.where.code) if node.where is not None else "",
        role="dim",
        stretch=True,
        least=20,
        drop=4,
    ),
)


def lowered_nodes(dump: "Dump", graph: str) -> Iterator[Node]:
    """The nodes after all passes, in order; those of nested graphs follow."""
    return (node for node in dump.rows(Node, graph) if node.stage == "post_grad")


nodes = Listing[Node](
    "nodes", COLUMNS, lowered_nodes, told=lambda found: number_of(len(found), "FX node") + " after all passes"
)
