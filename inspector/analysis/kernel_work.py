"""What each kernel computes: FLOPs of its products, scalar operations of its loops (docs/flops.md: how they count)."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from inspect_compile.analysis.flops import HEAVY
from inspect_compile.analysis.launches import Launch, launches
from inspect_compile.dump import Dump
from inspect_compile.facts import KernelBody, Lowering, Node
from inspect_compile.knowledge.kernel_operations import scalar_operations, special_operations

_FLOATS: Final = ("float64", "float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2")
"""Floating types that kernels compute in, the widest first."""


class Work(msgspec.Struct, frozen=True, tag_field="fact", tag="work"):
    """What one launch of a kernel computes, sizes at their hints."""

    graph: str
    kernel: str
    heavy: int
    """FLOPs of its matmuls, convolutions and attention, in extern kernels and templates too."""
    scalar: int
    """Scalar operations of its loops, after common subexpressions were eliminated."""
    special: int
    """Those of them that are transcendental."""
    dtype: str
    """What the heavy part multiplies, else the widest floating type that it computes in; empty: not known."""
    line: int | None = None
    """Of the launch, in output_code.py."""
    is_recorded: bool = True
    """False: the dump knows no operations of its loops, and `scalar` is what its nodes come to one by one."""


class Done(msgspec.Struct, frozen=True, tag_field="fact", tag="operations"):
    """Operations of one kind that one launch of a kernel does for one FX node."""

    graph: str
    kernel: str
    node: str
    operator: str
    """As torch's `ops` calls it; of a reduction with its kind, `reduction.sum`."""
    domain: str
    """What it is done for each element of, `32*s77`."""
    elements: int | None
    """The same at the hints of its symbols."""
    count: int
    """How many of these operations, for each element."""

    @property
    def scalar(self) -> int:
        """Scalar operations."""
        return (self.elements or 0) * self.count * scalar_operations(self.operator)

    @property
    def special(self) -> int:
        """Those of them that are transcendental."""
        return (self.elements or 0) * self.count * special_operations(self.operator)


def kernel_work(dump: Dump, graph: str) -> dict[tuple[str, str], Work]:
    """(graph, kernel) → the work of its first launch; the launches of an extern kernel differ: `launch_work`."""
    found: dict[tuple[str, str], Work] = {}
    for work in launch_work(dump, graph).values():
        found.setdefault((work.graph, work.kernel), work)
    return found


def launch_work(dump: Dump, graph: str) -> dict[tuple[str, str, int | None], Work]:
    """(graph, kernel, line of output_code.py) → the work of that launch; nested graphs included."""
    facts = _Facts(dump, graph)
    return {(launch.graph, launch.kernel.name, launch.line): _work(launch, facts) for launch in launches(dump, graph)}


def operations(body: KernelBody) -> Iterator[Done]:
    """What a launch of a kernel does, node by node."""
    for row in body.computed:
        yield Done(
            body.graph,
            body.kernel,
            _at(body.nodes, row.node, ""),
            _at(body.operators, row.operator, "?"),
            _at(body.domains, row.domain, "?"),
            body.elements[row.domain] if 0 <= row.domain < len(body.elements) else None,
            row.count,
        )


def _at(names: tuple[str, ...], index: int, otherwise: str) -> str:
    return names[index] if 0 <= index < len(names) else otherwise


class _Facts:
    def __init__(self, dump: Dump, graph: str) -> None:
        self.lowered = {(row.graph, row.node): row for row in dump.rows(Lowering, graph)}
        self.nodes = {(node.graph, node.name): node for node in dump.rows(Node, graph) if node.stage == "post_grad"}
        self.bodies: dict[tuple[str, str], list[KernelBody]] = {}
        for body in dump.rows(KernelBody, graph):
            self.bodies.setdefault((body.graph, body.kernel), []).append(body)

    def body(self, launch: Launch) -> KernelBody | None:
        """Of this launch: a kernel has one for each group of the same source."""
        rows = self.bodies.get((launch.graph, launch.kernel.name), [])
        wanted = set(launch.operations)
        return next((row for row in rows if wanted.intersection(row.operations)), rows[0] if rows else None)

    def node(self, row: Lowering) -> Node | None:
        return self.nodes.get((row.graph, row.node))


def _work(launch: Launch, facts: _Facts) -> Work:
    rows = [row for name in launch.nodes if (row := facts.lowered.get((launch.graph, name))) is not None]
    # Of a kernel of loops a product is an origin too, for what flowed out of it.
    products = [row for row in rows if row.flops_kind in HEAVY and launch.kernel.kind in ("extern", "template")]
    body = facts.body(launch)
    is_extern = launch.kernel.kind == "extern"
    is_recorded = is_extern or (body is not None and bool(body.domains or not launch.kernel.computes))
    if body is not None and body.domains:
        done = list(operations(body))
        scalar, special, dtype = sum(row.scalar for row in done), sum(row.special for row in done), body.dtype
    else:
        light = [
            row for row in rows if row.flops_kind not in HEAVY and (is_extern or row.node in launch.kernel.computes)
        ]
        scalar, special = sum(row.flops for row in light), sum(row.special for row in light)
        dtype = _widest(node for row in light if (node := facts.node(row)) is not None)
    operands = (
        facts.nodes[row.graph, name]
        for row in products
        if (node := facts.node(row)) is not None
        for name in node.inputs
        if (row.graph, name) in facts.nodes
    )
    heavy = sum(row.flops for row in products)
    return Work(
        launch.graph,
        launch.kernel.name,
        heavy,
        scalar,
        special,
        _widest(operands) or dtype,
        launch.line,
        is_recorded,
    )


def _widest(nodes: Iterable[Node]) -> str:
    there = {value.dtype for node in nodes for value in node.values}
    return next((dtype for dtype in _FLOATS if dtype in there), "")
