"""The nodes of a graph's FX graphs, at each recorded stage."""

from typing import Final

from inspect_compile.dump import Dump
from inspect_compile.facts import Node
from inspect_compile.graph import Id, gathered, outermost
from inspect_compile.graph.provenance.lineage import NodeRef
from inspect_compile.tables.columns import Cell, Column, cell, picked
from inspect_compile.tables.lowering.nodes import COLUMNS, EDGES
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.sheet import Panel, Row, Shown, Subject, Table

STAGES: Final = {"post-grad": "post_grad", "aot": "aot", "joint": "joint", "dynamo": "dynamo"}
"""Name of a stage in the TUI → its name in the facts."""


def fx(dump: Dump, chain: Chain, stage: str) -> Shown[Table]:
    """The nodes of `stage` (a name in STAGES), those of nested graphs under a heading.

    It begins with the first node that computes something: there may be many inputs before it.
    """
    found = chain.nodes if STAGES[stage] == "post_grad" else chain.compiled.stage(STAGES[stage])
    lowered = _Kin(dump, chain) if STAGES[stage] in ("dynamo", "joint") else _Lowered(chain)
    subjects = {Id.of(node): lowered.subject(node) for node in found}

    def name(node: Node) -> Cell:
        is_quiet = node.op in EDGES or subjects[Id.of(node)] is None
        return cell(node.name, "dim" if is_quiet else "name")

    def kernels(node: Node) -> str:
        subject = subjects[Id.of(node)]
        names = subject.names if subject is not None else ()
        return str(chain.count({place for one in names for place in chain.kernels_of_node.get(str(one), ())}) or "")

    node_name = Column("node", name, stretch=True, least=10, most=40, middle=True)
    count: Column[Node] = Column("▪", kernels, role="accent", right=True)
    shown = picked(COLUMNS, node_name, count, "target", "value", "where", "module", "stride", "reads")
    rows: list[Row] = []
    graph, start = "", -1
    for node in found:
        if node.graph != graph and node.graph.startswith(f"{chain.graph}/"):
            heading = node.graph.removeprefix(f"{chain.graph}/")
            rows.append(Row.title(f"graph {heading}", heading))
        graph = node.graph
        if start < 0 and node.op not in EDGES:
            start = len(rows)
        key = chain.key(node.graph, node.name) if node.graph.startswith(chain.graph) else node.name
        rows.append(Row.of(shown, node, key, subjects[Id.of(node)]))
    return Shown(Table(shown, rows), number_of(len(found), "node"), max(0, start))


class _Kin:
    """Which nodes of the lowered graph came from a node of Dynamo's graph or of the joint graph."""

    def __init__(self, dump: Dump, chain: Chain) -> None:
        self._chain = chain
        self._lineage = chain.compiled.lineage

    def subject(self, node: Node) -> Subject | None:
        """None for a node of which nothing is left in this graph."""
        names = tuple(
            self._chain.key(kin.graph, kin.name)
            for kin, _ in self._lineage.descendants(NodeRef.of(node))
            if kin.stage == "post_grad" and outermost(kin.graph) == self._chain.graph
        )
        return _subject(node, names)


class _Lowered:
    """Which nodes of the lowered graph came from a node of it, or of the graph that AOTAutograd passed to Inductor."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._names = {chain.key(node.graph, node.name) for node in chain.nodes}
        self._of_origin = gathered(
            (origin, chain.key(node.graph, node.name)) for node in chain.nodes for origin in node.origins
        )

    def subject(self, node: Node) -> Subject | None:
        """None for a node of which nothing is left."""
        key = self._chain.key(node.graph, node.name)
        if key in self._names:
            return Subject("node", (key,), node.name, (node.name,))
        names = [name for origin in node.origins[:1] for name in self._of_origin.get(origin, ())]
        return _subject(node, tuple(names))


def _subject(node: Node, names: tuple[str, ...]) -> Subject | None:
    """What became of a node, which has a name for `show` if that is one node."""
    return Subject("node", names, node.name, names if len(names) == 1 else ()) if names else None


PANEL: Final = Panel(fx, tuple(STAGES), "The dump holds no graph of this stage: s shows the next one.", follow="ir")
