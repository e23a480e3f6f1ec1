"""Finds the node that a person names: by its name in any graph, or by a buffer or operation that computes it."""

from collections.abc import Iterator
from dataclasses import dataclass

from inspect_compile.analysis.lookup.answer import Answer, Found, unknown
from inspect_compile.analysis.lookup.operations import find_operations
from inspect_compile.analysis.lookup.row_filter import NodeName
from inspect_compile.facts import Lowering, Operation
from inspect_compile.graph import CompiledGraph, Graphs, ProgramLine, enclosing, own_name
from inspect_compile.graph.provenance.lineage import STAGES, Lineage, NodeRef


@dataclass(frozen=True)
class ResolvedNode:
    """The nodes that a name stands for: all of one compile, or, behind a buffer or operation, of one graph."""

    lineage: Lineage
    kins: tuple[NodeRef, ...]
    behind: str = ""
    """`buf3`, if the name is that of a buffer or an operation."""


def find_nodes(graphs: Graphs, text: str) -> Answer[ResolvedNode]:
    """The nodes that are called `text`, else those behind the buffers or operations of that name, else those of that
    line of the program, else those of the operations that it means otherwise, as those of a kernel.

    A stage in front, `dynamo:add`, and `graph` choose among several. Of one compile the latest stage that has the name
    is meant.
    """
    stage, colon, bare = text.partition(":")
    stages = (stage,) if colon and stage in STAGES else STAGES
    bare = bare if colon and stage in STAGES else text
    lineages = _lineages(graphs)
    found = [
        ResolvedNode(lineage, kins) for lineage in lineages if (kins := _latest(lineage, bare, stages, graphs.name))
    ]
    if not found and len(stages) > 1:
        found = [one for lineage in lineages for one in _behind(lineage, bare, graphs.name)]
        found = found or [one for lineage in lineages for one in _on_line(lineage, bare, graphs.name)]
        found = found or list(_of_operations(graphs, lineages, bare))
    names = (kin.name for lineage in lineages for kin in lineage.nodes)
    return Found(tuple(found)) if found else unknown(graphs.dump, text, "node", names, graphs.name or "")


def find_node_name(graphs: Graphs, text: str) -> Answer[NodeName]:
    """The name of a node of the lowered graphs, with its nested graph or without."""
    known = {node.name: None for node in graphs.nodes}
    name = text.removeprefix("%")
    is_known = own_name(name) in known
    return Found((NodeName(name),)) if is_known else unknown(graphs.dump, text, "node", known, graphs.name or "")


def _lineages(graphs: Graphs) -> list[Lineage]:
    if graphs.name is not None:
        return [CompiledGraph(graphs.dump, graphs.name).lineage]
    found: dict[str, Lineage] = {}
    for one in graphs:
        if one.name not in found:
            found |= dict.fromkeys((of.name for of in one.lineage.graphs), one.lineage)
    return list(dict.fromkeys(found.values()))


def _latest(lineage: Lineage, name: str, stages: tuple[str, ...], graph: str | None) -> tuple[NodeRef, ...]:
    """The nodes of that name in the latest graph that has any; nodes that compute come before inputs."""
    path, bare = ("", name) if lineage.find(name) else (enclosing(name), own_name(name))
    there = [kin for kin in lineage.find(bare) if kin.stage in stages and _is_in(kin, path, graph)]
    for stage in reversed(STAGES):
        kins = [kin for kin in there if kin.stage == stage]
        outer = [kin for kin in kins if path or not lineage.path(kin)]
        kins = outer or kins
        computing = [kin for kin in kins if lineage.nodes[kin].op != "placeholder"]
        if kins:
            return tuple(computing or kins)
    return ()


def _is_in(kin: NodeRef, path: str, graph: str | None) -> bool:
    """True if it is in the selected graph. A nested graph's nodes belong to the enclosing one too."""
    if path and not kin.graph.endswith(f"/{path}"):
        return False
    return graph is None or kin.stage in ("dynamo", "joint") or kin.graph == graph or kin.graph.startswith(f"{graph}/")


def _behind(lineage: Lineage, name: str, graph: str | None) -> list[ResolvedNode]:
    """For each graph the nodes of the operation of that name, or of the one that writes the buffer of that name."""
    found: dict[str, dict[NodeRef, None]] = {}
    for one in lineage.graphs:
        rows: list[tuple[str, tuple[str, ...]]] = []
        for row in one.rows(Operation):
            if name == row.name or name in row.buffers:
                rows.append((row.graph, row.nodes))
        for made in one.rows(Lowering) if not rows else ():
            if name in made.buffers or name in made.operations:
                rows.append((made.graph, (made.node,)))
        for of, nodes in rows:
            kins = (NodeRef("post_grad", of, node) for node in nodes)
            found.setdefault(of, {}).update((kin, None) for kin in kins if kin in lineage.nodes)
    return [
        ResolvedNode(lineage, tuple(kins), name)
        for of, kins in found.items()
        if kins and _is_in(NodeRef("post_grad", of, ""), "", graph)
    ]


def _on_line(lineage: Lineage, text: str, graph: str | None) -> Iterator[ResolvedNode]:
    """The nodes of a line of the program, in the latest graph that has any."""
    line = ProgramLine.read(text)
    there = [
        kin
        for kin, node in lineage.nodes.items()
        if line is not None and node.where is not None and line.is_at(node.where) and _is_in(kin, "", graph)
    ]
    for stage in reversed(STAGES):
        if kins := tuple(kin for kin in there if kin.stage == stage):
            yield ResolvedNode(lineage, kins, text)
            return


def _of_operations(graphs: Graphs, lineages: list[Lineage], text: str) -> Iterator[ResolvedNode]:
    answer = find_operations(graphs, (text,))
    for (meant,) in answer.all if isinstance(answer, Found) else ():
        rows = [row for row in graphs.dump.rows(Operation, meant.graph) if row.name in meant.operations]
        kins = dict.fromkeys(NodeRef("post_grad", row.graph, node) for row in rows for node in row.nodes)
        for lineage in lineages:
            if known := tuple(kin for kin in kins if kin in lineage.nodes):
                yield ResolvedNode(lineage, known, text)


def other_nodes(lineage: Lineage, kin: NodeRef) -> list[NodeRef]:
    """The latest nodes of the same name that are not related: `add` in Dynamo's graph is seldom that in a later one."""
    family = {kin, *(link.kin for link in (*lineage.ancestors(kin), *lineage.descendants(kin)))}
    return [one for one in lineage.find(kin.name) if one not in family and not lineage.children(one)]
