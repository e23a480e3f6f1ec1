"""FLOPs of matmuls and scalar operations of loops, for each kernel. docs/flops.md has the conventions."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from inspect_compile.analysis.cost.flops import COMPUTING, HEAVY, operator
from inspect_compile.facts import KernelBody, Lowering, Node
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.graph.indexing import index_text
from inspect_compile.graph.kernels.launches import USER_TRITON, Launch
from inspect_compile.graph.kernels.statements import at
from inspect_compile.graph.kernels.user_triton_kernels import OwnKernels
from inspect_compile.knowledge.cost.kernel_operations import scalar_operations, special_operations

_FLOATS: Final = ("float64", "float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2")
"""Floating types that kernels compute in, widest first."""


_COUNTED: Final = COMPUTING | {"none", "size"}

MOST: Final = 2**63 - 1
"""A larger number can only come from a damaged dump."""


class Work(msgspec.Struct, frozen=True, tag_field="fact", tag="work"):
    """What one launch of a kernel computes, with sizes at their hints."""

    graph: str
    kernel: str
    heavy: int
    """FLOPs of its matmuls, convolutions and attention, including extern kernels and templates."""
    scalar: int
    """Scalar operations of its loops, after common subexpression elimination."""
    transcendental: int
    """The part of `scalar` that is transcendental."""
    dtype: str
    """The type that the heavy part multiplies, else the widest floating type it computes in; empty if not known."""
    line: int | None = None
    """Line number of the launch in output_code.py."""
    expression: str = ""
    """`heavy` + `scalar` in terms of symbolic sizes; empty if no size is symbolic, or one is not known."""
    is_recorded: bool = True
    """False if the loops' operations were not recorded: `scalar` is then the sum over its FX nodes."""
    uncounted: str = ""
    """Why it computes more than is counted here; empty if everything is counted."""


class Done(msgspec.Struct, frozen=True, tag_field="fact", tag="operations"):
    """Operations of one kind that one launch does for one FX node."""

    graph: str
    kernel: str
    node: str
    operator: str
    """Name of torch's `ops` operator; of a reduction with its kind, `reduction.sum`."""
    domain: str
    """The number of elements it is done for, as an expression: `32*s77`."""
    elements: int | None
    """The same at the hints of its symbols; None if one has none."""
    count: int
    """Number of these operations for each element."""

    @property
    def scalar(self) -> int:
        """Number of scalar operations."""
        return min((self.elements or 0) * self.count * scalar_operations(self.operator), MOST)

    @property
    def expression(self) -> str:
        """`scalar` in terms of symbolic sizes; empty if there are none."""
        each = self.count * scalar_operations(self.operator)
        return "" if not each or self.domain.isdecimal() else f"{each}*({self.domain})"

    @property
    def transcendental(self) -> int:
        """The part of `scalar` that is transcendental."""
        return min((self.elements or 0) * self.count * special_operations(self.operator), MOST)


class Launched(NamedTuple):
    """One launch, with its work and what that was counted from."""

    launch: Launch
    work: Work
    products: tuple[str, ...]
    """FX nodes of its matmuls, convolutions and attention."""
    body: KernelBody | None
    done: list[Done]


def launch_work(graph: CompiledGraph) -> dict[tuple[str, str, int | None], Work]:
    """(graph, kernel, line of output_code.py) → the work of that launch; nested graphs included."""
    return {(row.work.graph, row.work.kernel, row.work.line): row.work for row in works(graph)}


def works(graph: CompiledGraph) -> list[Launched]:
    """Every launch of a graph with its work, in the order of the generated code."""
    facts = _Facts(graph)
    return [_launched(launch, facts) for launch in graph.launches]


def operations(body: KernelBody) -> Iterator[Done]:
    """What one launch of a kernel does, by node."""
    for row in body.computed:
        yield Done(
            body.graph,
            body.kernel,
            at(body.nodes, row.node, ""),
            at(body.operators, row.operator),
            at(body.domains, row.domain),
            body.elements[row.domain] if 0 <= row.domain < len(body.elements) else None,
            row.count,
        )


class _Facts:
    def __init__(self, graph: CompiledGraph) -> None:
        self.own = OwnKernels(graph)
        self.lowered = {Id(row.graph, row.node): row for row in graph.rows(Lowering)}
        self.nodes = graph.node_of
        self.statements = graph.statements

    def node(self, row: Lowering) -> Node | None:
        return self.nodes.get(Id(row.graph, row.node))

    def operands(self, row: Lowering) -> list[Node]:
        node = self.node(row)
        names = () if node is None else node.inputs
        return [self.nodes[Id(row.graph, name)] for name in names if Id(row.graph, name) in self.nodes]


def _launched(launch: Launch, facts: _Facts) -> Launched:
    if launch.kernel.kind == USER_TRITON:
        return _of_user(launch, facts)
    rows = [row for name in launch.nodes if (row := facts.lowered.get(Id(launch.graph, name))) is not None]
    # A generated kernel also has a matmul among its origins if its result flows into it.
    products = [row for row in rows if row.flops_kind in HEAVY and launch.kernel.kind in ("extern", "template")]
    body = facts.statements.body(launch.graph, launch.kernel.name, launch.operations)
    done = list(operations(body)) if body is not None else []
    is_extern = launch.kernel.kind == "extern"
    own = {row.node for row in rows} if is_extern else set(launch.kernel.computes)
    light = [row for row in rows if row.flops_kind not in HEAVY and row.node in own and not done]
    heavy = min(sum(row.flops for row in products), MOST)
    scalar = min(sum(row.scalar for row in done) + sum(row.flops for row in light), MOST)
    transcendental = min(sum(row.transcendental for row in done) + sum(row.special for row in light), MOST)
    operands = (node for row in products for node in facts.operands(row))
    dtype = _widest(operands) or (body.dtype if body is not None else "")
    dtype = dtype or _widest(node for row in light if (node := facts.node(row)) is not None)
    texts = [(row.flops_text, row.flops) for row in (*products, *light)] + [
        (row.expression, row.scalar) for row in done
    ]
    expression = "" if all(not text for text, _ in texts) else summed(texts)
    is_recorded = is_extern or bool(done) or not launch.kernel.computes
    unknown = {operator(row.target): None for row in rows if is_extern and row.flops_kind not in _COUNTED}
    uncounted = f"no rule covers {', '.join(unknown)}" if unknown else ""
    name, line = launch.kernel.name, launch.line
    work = Work(launch.graph, name, heavy, scalar, transcendental, dtype, line, expression, is_recorded, uncounted)
    return Launched(launch, work, tuple(row.node for row in products), body, done)


def _of_user(launch: Launch, facts: _Facts) -> Launched:
    """The work of a user's Triton kernel."""
    own = facts.own.of(launch)
    rows = [row for name in launch.nodes if (row := facts.lowered.get(Id(launch.graph, name))) is not None]
    dtype = _widest(node for row in rows if row.flops_kind not in COMPUTING for node in facts.operands(row))
    work = Work(
        launch.graph,
        launch.kernel.name,
        own.heavy,
        own.scalar,
        own.transcendental,
        dtype,
        launch.line,
        is_recorded=not own.uncounted,
        uncounted=own.uncounted,
    )
    return Launched(launch, work, (), None, [])


def summed(parts: Iterable[tuple[str, int]]) -> str:
    """The sum of expressions, given with their values for those without text; empty if one cannot be parsed."""
    found: index_text.Sum = {}
    try:
        for text, number in parts:
            read: index_text.Sum = index_text.value(index_text.parse(text)) if text else {(): number}
            found = index_text.plus(found, read)
    except index_text.UnreadableError:
        return ""
    return index_text.written(found)


def _widest(nodes: Iterable[Node]) -> str:
    there = {value.dtype for node in nodes for value in node.values}
    return next((dtype for dtype in _FLOATS if dtype in there), "")
