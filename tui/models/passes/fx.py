"""The nodes of a graph's FX graphs, at each recorded stage."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from inspect_compile.analysis.lowering.ir_text import dtype_text
from inspect_compile.analysis.provenance.lineage import Lineage, NodeRef
from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, JointNode, Node, Tensor
from inspect_compile.tables.columns import Cell, Span, cell
from inspect_compile.tables.text import place_text
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.sheet import Column, Row, Subject, Table

STAGES: Final = {"post-grad": "post_grad", "aot": "aot", "joint": "joint", "dynamo": "dynamo"}
"""Name of a stage in the TUI → its name in the facts."""

EDGES: Final = frozenset({"placeholder", "output", "get_attr"})
"""Ops of nodes that compute nothing."""

COLUMNS: Final = (
    Column("node", stretch=True, least=10, most=40),
    Column("▪", right=True),
    Column("operator", stretch=True, least=8, most=40),
    Column("value", stretch=True, least=14, most=40),
    Column("line", drop=2, most=30),
    Column("module", drop=3, stretch=True, least=14, most=40),
    Column("stride", drop=1, stretch=True, least=12, most=28),
    Column("reads", drop=4, stretch=True, least=12, most=60),
)


@dataclass(frozen=True)
class Nodes:
    """The nodes of one stage."""

    table: Table
    count: int
    start: int
    """Index of the first node that computes something: there may be many inputs before it."""


def fx(dump: Dump, chain: Chain, stage: str) -> Nodes:
    """The nodes of `stage` (a name in STAGES), those of nested graphs under a heading."""
    rows: list[Row] = []
    graph, start = "", -1
    found = _nodes(dump, chain, STAGES[stage])
    lowered = _Kin(dump, chain) if STAGES[stage] in ("dynamo", "joint") else _Lowered(chain)
    for node in found:
        if node.graph != graph and node.graph.startswith(f"{chain.graph}/"):
            heading = node.graph.removeprefix(f"{chain.graph}/")
            rows.append(Row(f"graph {heading}", (cell(heading, "title"),), heading=True))
        graph = node.graph
        if start < 0 and node.op not in EDGES:
            start = len(rows)
        key = chain.key(node.graph, node.name) if node.graph.startswith(chain.graph) else node.name
        subject = lowered.subject(node)
        rows.append(Row(key, partial(_cells, node, chain, subject), subject))
    return Nodes(Table(COLUMNS, rows), len(found), max(0, start))


def _nodes(dump: Dump, chain: Chain, stage: str) -> list[Node]:
    if stage == "post_grad":
        return chain.nodes
    if stage == "dynamo":
        found = dump.graph(chain.graph)
        return list(dump.rows_of_compile(DynamoNode, found.compile_id if found is not None else None))
    if stage == "joint":
        found = dump.graph(chain.graph)
        return list(dump.rows_of_compile(JointNode, found.compile_id if found is not None else None))
    return [node for node in dump.rows(Node, chain.graph) if node.stage == stage]


class _Kin:
    """Which nodes of the lowered graph came from a node of Dynamo's graph or of the joint graph."""

    def __init__(self, dump: Dump, chain: Chain) -> None:
        self._chain = chain
        self._lineage = Lineage(dump, chain.graph)

    def subject(self, node: Node) -> Subject | None:
        """None for a node of which nothing is left in this graph."""
        names = tuple(
            self._chain.key(kin.graph, kin.name)
            for kin, _ in self._lineage.descendants(NodeRef.of(node))
            if kin.stage == "post_grad" and kin.graph.partition("/")[0] == self._chain.graph
        )
        return Subject("node", names, node.name, names if len(names) == 1 else ()) if names else None


class _Lowered:
    """Which nodes of the lowered graph came from a node of it, or of the graph that AOTAutograd passed to Inductor."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._names = {chain.key(node.graph, node.name) for node in chain.nodes}
        self._of_origin: dict[str, list[str]] = {}
        for node in chain.nodes:
            for origin in node.origins:
                self._of_origin.setdefault(origin, []).append(chain.key(node.graph, node.name))

    def subject(self, node: Node) -> Subject | None:
        """None for a node of which nothing is left."""
        key = self._chain.key(node.graph, node.name)
        if key in self._names:
            return Subject("node", (key,), node.name, (node.name,))
        names = [name for origin in node.origins[:1] for name in self._of_origin.get(origin, ())]
        return Subject("node", tuple(names), node.name, tuple(names) if len(names) == 1 else ()) if names else None


def _cells(node: Node, chain: Chain, subject: Subject | None) -> tuple[Cell, ...]:
    is_edge = node.op in EDGES
    kernels: set[int] = set()
    for name in subject.names if subject is not None else ():
        kernels |= chain.kernels_of_node.get(str(name), set())
    return (
        cell(node.name, "dim" if is_edge or subject is None else "name"),
        cell(str(chain.count(kernels)) if kernels else "", "accent"),
        cell(_operator(node), "dim" if is_edge else ""),
        _value(node),
        cell(place_text(node.where), "dim"),
        cell(f"{node.module} ({node.module_type})" if node.module_type else node.module, "dim"),
        cell(", ".join(_strides(value) for value in node.values[:1]), "dim"),
        cell(", ".join(node.inputs), "dim"),
    )


def _operator(node: Node) -> str:
    return node.op if node.op in ("placeholder", "output") else node.target.removesuffix(".default")


def _value(node: Node) -> tuple[Span, ...]:
    if not node.values:
        return ()
    first = node.values[0]
    spans = [Span(dtype_text(first.dtype), "type"), Span(f"[{', '.join(map(str, first.size))}]")]
    if len(node.values) > 1:
        spans.append(Span(f" +{len(node.values) - 1}", "dim"))
    return tuple(spans)


def _strides(value: Tensor) -> str:
    return f"({', '.join(map(str, value.stride))})"
