"""What each kernel computes: FLOPs of its products, scalar operations of its loops (docs/flops.md: how they count)."""

from collections.abc import Iterable
from typing import Final

import msgspec

from inspect_compile.analysis.flops import HEAVY
from inspect_compile.analysis.launches import Launch, launches
from inspect_compile.dump import Dump
from inspect_compile.facts import Lowering, Node

_WIDTHS: Final = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}
"""Floating types that kernels compute in, the widest first, with their bytes."""


class Work(msgspec.Struct, frozen=True, tag_field="fact", tag="work"):
    """What one launch of a kernel computes, sizes at their hints."""

    graph: str
    kernel: str
    heavy: int
    """FLOPs of its matmuls, convolutions and attention, in extern kernels and templates too."""
    scalar: int
    """Scalar operations of its loops."""
    special: int
    """Those of them that are transcendental."""
    dtype: str
    """What the heavy part multiplies, else the widest floating type that it computes in; empty: not known."""
    line: int | None = None
    """Of the launch, in output_code.py."""


def kernel_work(dump: Dump, graph: str) -> dict[tuple[str, str], Work]:
    """(graph, kernel) → the work of its first launch; the launches of an extern kernel differ: `launch_work`."""
    found: dict[tuple[str, str], Work] = {}
    for work in launch_work(dump, graph).values():
        found.setdefault((work.graph, work.kernel), work)
    return found


def launch_work(dump: Dump, graph: str) -> dict[tuple[str, str, int | None], Work]:
    """(graph, kernel, line of output_code.py) → the work of that launch; nested graphs included."""
    lowered = {(row.graph, row.node): row for row in dump.rows(Lowering, graph)}
    nodes = {(node.graph, node.name): node for node in dump.rows(Node, graph) if node.stage == "post_grad"}
    return {
        (launch.graph, launch.kernel.name, launch.line): _work(launch, lowered, nodes)
        for launch in launches(dump, graph)
    }


def _work(launch: Launch, lowered: dict[tuple[str, str], Lowering], nodes: dict[tuple[str, str], Node]) -> Work:
    rows = [row for name in launch.nodes if (row := lowered.get((launch.graph, name))) is not None]
    products = [row for row in rows if row.flops_kind in HEAVY]
    if launch.kernel.kind not in ("extern", "template"):
        products = []  # in its origins for what flowed out of them
    computes = [row for row in rows if row.node in launch.kernel.computes]
    scalar = sum(row.flops for row in computes if row.flops_kind in ("pointwise", "reduction"))
    operands = [
        nodes[row.graph, name] for row in products for name in _node(nodes, row).inputs if (row.graph, name) in nodes
    ]
    made = [_node(nodes, row) for row in computes]
    dtype = _widest(operands) or _widest(made)
    heavy = sum(row.flops for row in products)
    return Work(launch.graph, launch.kernel.name, heavy, scalar, 0, dtype, launch.line)


def _node(nodes: dict[tuple[str, str], Node], row: Lowering) -> Node:
    return nodes.get((row.graph, row.node)) or Node(stage="", index=0, name="", op="", target="")


def _widest(nodes: Iterable[Node]) -> str:
    there = {value.dtype for node in nodes for value in node.values}
    return next((dtype for dtype in _WIDTHS if dtype in there), "")
