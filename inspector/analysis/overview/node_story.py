"""Everything that a dump knows about one node: from the source line to the kernels that compute it."""

import re
from collections import Counter
from dataclasses import dataclass, field

import msgspec

from inspect_compile.analysis.fusion.misses import Miss
from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.analysis.lowering.inlining import Inlined, inlined
from inspect_compile.analysis.lowering.rows import asks_of
from inspect_compile.analysis.lowering.steps import Step, lowering_steps
from inspect_compile.analysis.numerics.remarks import numerics_remarks
from inspect_compile.analysis.numerics.statements import KernelStatements, kernel_statements
from inspect_compile.analysis.numerics.verdicts import Judged, judged
from inspect_compile.dump import Dump
from inspect_compile.facts import Edit, Location, Node, Operation, Pass, Realize, Remark, Symbol, Tensor
from inspect_compile.graph import CompiledGraph, Graphs, Id, operations_in, outermost
from inspect_compile.graph.cost.kernel_traffic import KernelTraffic
from inspect_compile.graph.fusion.ledger import Candidate, candidates
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.graph.passes.changes import passes_of
from inspect_compile.graph.provenance.lineage import Lineage, Link, NodeRef

MOST_LOWERED = 12
"""Maximum number of lowered nodes shown in full; a node of Dynamo's graph can have many."""
_NAME = re.compile(r"[A-Za-z]\w*")
_MOST = 256
"""Maximum number of rows of one kind."""


@dataclass(frozen=True)
class Lowered:
    """One node of the lowered graph, and how it became IR."""

    kin: NodeRef
    step: Step | None
    """None for a node that was not lowered: torch removed it, or the compile ended before."""
    asks: list[Realize]
    """Realizations while it was lowered, and of its value later."""
    inlined: Inlined | None
    """If its value was never realized, the operations that compute it inline."""


@dataclass(frozen=True)
class Ran:
    """A call of a kernel that computes it, among other nodes."""

    launch: Launch
    moved: KernelTraffic


class KinRow(msgspec.Struct, frozen=True):
    """The node itself, or one that it was made from or that was made from it."""

    stage: str
    graph: str
    """The graph's name; for Dynamo's and joint graphs the compile id."""
    name: str
    op: str
    target: str
    values: tuple[Tensor, ...]
    how: str
    """How the relation is known, as in `Link`; empty for the node itself."""
    is_own: bool
    """True for the node itself."""


@dataclass(frozen=True)
class NodeStory:
    """One node and everything that came of it."""

    kin: NodeRef
    node: Node
    position: int
    """Position in its graph of `count` nodes, from 1."""
    count: int
    where: Location | None
    """Source line: its own, else that of the nearest node that it comes from."""
    around: tuple[Link, ...]
    """Ancestors, farthest first; the node; descendants, nearest first."""
    nodes: dict[NodeRef, Node]
    """The nodes in `around`."""
    why_none: str
    """Why it comes from no node of an earlier graph; empty if it does."""
    passes: list[tuple[Pass, Edit]]
    lowered: list[Lowered]
    left_out: int
    """Number of lowered nodes beyond `MOST_LOWERED`."""
    operations: list[Operation]
    """Operations before fusion."""
    fused: list[Candidate]
    refused: dict[str, int]
    """Reason code → number of fusions of its operations that were refused for it."""
    ran: list[Ran]
    flops: int
    flops_kinds: tuple[str, ...]
    checked: list[Judged]
    """What a check of numerics said of launches' results that are its value."""
    blamed: list[KernelStatements]
    """Launches with a wrong result of which a statement of it is wrong."""
    remarks: list[Remark]
    symbols: list[Symbol]
    """Symbols in the sizes of the node and its relatives, from the graphs that it is lowered in."""
    attempts: list[Candidate] = field(default_factory=list)
    """Every look at a pair with one of its operations."""
    missed: list[Miss] = field(default_factory=list)
    """Misses with one of its operations; none with a library call."""

    @property
    def kin_rows(self) -> list[KinRow]:
        """The nodes in `around`, in its order."""
        return [
            KinRow(*link.kin, node.op, node.target, node.values, link.how, link.kin == self.kin)
            for link in self.around
            for node in (self.nodes[link.kin],)
        ]


def node_story(dump: Dump, lineage: Lineage, kin: NodeRef, *, misses: bool = True) -> NodeStory:
    """Collect everything about `kin`, a node of the lineage.

    Without `misses`, `missed` stays empty: these are found for a graph as a whole, which takes longer than all else.
    """
    node = lineage.nodes[kin]
    ancestors, descendants = lineage.ancestors(kin)[::-1], lineage.descendants(kin)
    around = (*ancestors, Link(kin, ""), *descendants)
    final = [one for one in (kin, *(link.kin for link in descendants)) if one.stage == "post_grad"]
    values = {Id.of(one) for one in final}
    own = [one for one in lineage.nodes if (one.stage, one.graph) == (kin.stage, kin.graph)]
    lowered = _lowered(dump, final[:MOST_LOWERED])
    operations = _operations(lineage, set(final))
    names = {Id.of(row) for row in operations}
    attempts = _attempts(lineage, names)
    ran = _ran(lineage, names, set(final))
    steps = [one.step.row for one in lowered if one.step is not None]
    buffers = {Id(row.graph, name) for row in operations for name in row.buffers}
    buffers |= {Id(row.graph, name) for row in steps for name in row.buffers}
    known = values | names | buffers
    return NodeStory(
        kin=kin,
        node=node,
        position=own.index(kin) + 1,
        count=len(own),
        where=lineage.line_of(kin),
        around=around,
        nodes={link.kin: lineage.nodes[link.kin] for link in around},
        why_none=lineage.why_none((ancestors[0] if ancestors else Link(kin, "")).kin)
        if not any(link.kin.stage == "dynamo" for link in around)
        else "",
        passes=_passes(dump, lineage, around),
        lowered=lowered,
        left_out=max(0, len(final) - MOST_LOWERED),
        operations=operations,
        fused=[row for row in attempts if row.verdict == "fused"],
        refused=dict(Counter(row.code for row in attempts if row.verdict == "refused").most_common()),
        ran=ran,
        flops=sum(row.flops for row in steps),
        flops_kinds=tuple(dict.fromkeys(row.flops_kind for row in steps if row.flops)),
        checked=_checked(lineage, values),
        blamed=_blamed(lineage, values),
        remarks=_remarks(dump, lineage, known),
        symbols=_symbols(lineage, around),
        attempts=attempts,
        missed=_missed(dump, operations) if misses else [],
    )


def _missed(dump: Dump, operations: list[Operation]) -> list[Miss]:
    found: list[Miss] = []
    for graph in dict.fromkeys(outermost(row.graph) for row in operations):
        fusions = fusion(CompiledGraph(dump, graph))
        groups = {
            (one.graph, ledger.final.get(name))
            for ledger in fusions.ledgers
            for one in operations
            if one.graph == ledger.graph
            for name in one.members
        }
        apart = (*fusions.apart, *fusions.beside)
        found += [miss for miss in apart if Id(miss.graph, miss.a) in groups or Id(miss.graph, miss.b) in groups]
    return found


def _symbols(lineage: Lineage, around: tuple[Link, ...]) -> list[Symbol]:
    words = {
        word
        for link in around[:_MOST]
        for value in lineage.nodes[link.kin].values
        for length in (*value.size, *value.stride)
        if isinstance(length, str)
        for word in _NAME.findall(length)
    }
    found = {row.name: row for graph in lineage.graphs for row in graph.symbols if row.name in words}
    return list(found.values())


def _passes(dump: Dump, lineage: Lineage, around: tuple[Link, ...]) -> list[tuple[Pass, Edit]]:
    """Edits of the node or of its relatives, in the order in which they were made."""
    names: dict[str, set[str]] = {}
    for link in around:
        names.setdefault({"dynamo": "pre_grad", "aot": "post_grad"}.get(link.kin.stage, link.kin.stage), set()).add(
            link.kin.name
        )
    found = []
    for row in passes_of(dump, lineage.compile_id, lineage.graphs):
        wanted = names.get(row.stage, set())
        found += [(row, edit) for edit in row.edits if edit.node in wanted]
    return found[:_MOST]


def _lowered(dump: Dump, kins: list[NodeRef]) -> list[Lowered]:
    found = []
    for outer in dict.fromkeys(outermost(kin.graph) for kin in kins):
        wanted = {Id.of(kin): kin for kin in kins if outermost(kin.graph) == outer}
        steps = {
            Id(step.row.graph, step.row.node): step
            for step in lowering_steps(CompiledGraph(dump, outer))
            if Id(step.row.graph, step.row.node) in wanted
        }
        asks, virtual = asks_of(CompiledGraph(dump, outer)), inlined(CompiledGraph(dump, outer))
        found += [
            Lowered(kin, steps.get(key), asks.get(key, [])[:_MOST], virtual.get(key)) for key, kin in wanted.items()
        ]
    return found


def _operations(lineage: Lineage, kins: set[NodeRef]) -> list[Operation]:
    names = {Id.of(kin) for kin in kins}
    return [
        row
        for graph in lineage.graphs
        for row in graph.operations
        if any(Id(row.graph, node) in names for node in row.nodes)
    ][:_MOST]


def _attempts(lineage: Lineage, names: set[Id]) -> list[Candidate]:
    return [
        row
        for graph in lineage.graphs
        for row in candidates(graph)
        if any(Id(row.graph, name) in names for side in (row.a, row.b) for name in (side, *operations_in(side)))
    ]


def _ran(lineage: Lineage, operations: set[Id], kins: set[NodeRef]) -> list[Ran]:
    nodes = {Id.of(kin) for kin in kins}
    found = []
    for graph in lineage.graphs:
        for launch in graph.launches:
            own = any(Id(launch.graph, name) in operations for name in launch.operations)
            if own or any(Id(launch.graph, name) in nodes for name in launch.nodes):
                found.append(Ran(launch, graph.traffic.of(launch)))
    return found[:_MOST]


def _checked(lineage: Lineage, values: set[Id]) -> list[Judged]:
    rows = (row for graph in lineage.graphs for row in judged(graph))
    return [row for row in rows if row.kernel and Id(row.graph, row.node) in values][:_MOST]


def _blamed(lineage: Lineage, values: set[Id]) -> list[KernelStatements]:
    rows = (row for graph in lineage.graphs for row in kernel_statements(graph))
    return [row for row in rows if row.blamed is not None and Id(row.graph, row.blamed.node) in values][:_MOST]


def _remarks(dump: Dump, lineage: Lineage, known: set[Id]) -> list[Remark]:
    graphs = {graph.name for graph in lineage.graphs}
    return [
        row
        for row in (*dump.rows(Remark), *numerics_remarks(Graphs(dump)))
        if outermost(row.graph) in graphs and any(Id(row.graph, name) in known for name in row.ids)
    ][:_MOST]
