"""What became of a line, or of a node, that no operation computes: the pass that took it away, or what else."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from inspect_compile.analysis.lowering.inlining import inlined
from inspect_compile.facts import Edit, Location, Lowering, Node, Pass
from inspect_compile.graph import CompiledGraph, Graphs, Id, ProgramLine, few
from inspect_compile.graph.passes.changes import passes_of
from inspect_compile.graph.provenance.lineage import STAGES, Lineage, NodeRef

_MOST: Final = 3
_LONGEST_CHAIN: Final = 32
_ONTO: Final = {"pre_grad": "Dynamo's graph", "joint": "AOTAutograd's graph", "post_grad": "the post-grad graph"}
"""Stage of a pass → what it works on."""
_GRAPHS: Final = {
    "dynamo": "Dynamo's graph",
    "joint": "AOTAutograd's joint graph",
    "aot": "AOTAutograd's graph",
    "post_grad": "the graph that is lowered",
}
_WAYS: Final = {
    "view": "a view, for which nothing is computed",
    "getitem": "an element of the result of a call",
    "constant": "a constant",
    "dead": "nothing reads it",
    "size": "a number, which the host computes",
}
"""Way of a lowering that makes no operation → what the node is then."""
_NODE: Final = re.compile(r"%(\w+)")


class _Asked(NamedTuple):
    """A node's name, or a line."""

    name: str
    line: ProgramLine | None

    def is_of(self, node: str, where: Location | None) -> bool:
        return node == self.name if self.line is None else where is not None and self.line.is_at(where)


def vanished(graphs: Graphs, name: str) -> str:
    """Why no operation computes `name`, a line or a node of any graph; empty if no graph has it."""
    asked = _Asked(name.removeprefix("%"), ProgramLine.read(name))
    return next((reason for one in graphs if (reason := _in_graph(one, asked))), "")


def _in_graph(graph: CompiledGraph, asked: _Asked) -> str:
    lineage = graph.lineage
    nodes = {kin: node for kin, node in lineage.nodes.items() if asked.is_of(node.name, node.where)}
    if lowered := [node for kin, node in nodes.items() if kin.stage == STAGES[-1] and node.op != "output"]:
        return _without_operation(graph, lowered)
    passes = passes_of(graph.dump, lineage.compile_id, lineage.graphs)
    for row in reversed(passes):
        gone = [edit for edit in row.edits if edit.what == "removed" and asked.is_of(edit.node, edit.where)]
        if gone:
            return _taken_away(row, gone, passes)
    return _not_made(lineage, {kin: node for kin, node in nodes.items() if node.op.startswith("call_")})


def _without_operation(graph: CompiledGraph, nodes: Sequence[Node]) -> str:
    lowered = {Id(row.graph, row.node): row for row in graph.rows(Lowering)}
    virtual = inlined(graph)
    parts = []
    for node in nodes[:_MOST]:
        row = lowered.get(Id.of(node))
        way = "" if row is None else "size" if row.flops_kind == "size" else row.way
        value = virtual.get(Id.of(node))
        if value is not None and value.operations:
            parts.append(f"`{node.name}` reads no buffer, and its code is in that of {_few(value.operations)}")
        else:
            parts.append(f"`{node.name}` is {_WAYS[way]}" if way in _WAYS else f"`{node.name}` is lowered to none")
    return f"no operation is made for this: {', '.join(parts)}"


def _taken_away(row: Pass, gone: Sequence[Edit], passes: Sequence[Pass]) -> str:
    """`remove_noop_ops took clone out of AOTAutograd's graph: what read it reads add`."""
    names = {edit.node: None for edit in gone}
    kind = "the pattern " if row.kind == "pattern" else ""
    what = (
        f"no operation is made for this: {kind}{row.name} took {_few(names)} out of {_ONTO.get(row.stage, row.stage)}"
    )
    added = [edit for edit in row.edits if edit.what == "added"]
    if row.kind == "pattern" and added:
        calls = {edit.before for edit in gone}
        new = sorted(added, key=lambda edit: edit.after not in calls)  # the same call under another name comes first
        others = [name for name in row.matched if name not in names]
        beside = f", together with {_few(others)}," if others else ""
        return f"{what}{beside} and put {_few([edit.node for edit in new])} there instead"
    instead = dict.fromkeys(name for edit in gone for name in _instead(edit.node, passes) if name not in names)
    if instead:
        return f"{what}: what read {'it' if len(names) == 1 else 'them'} reads {_few(instead)}"
    return f"{what}, where nothing read {'it' if len(names) == 1 else 'them'} any more"


def _instead(name: str, passes: Sequence[Pass]) -> Iterator[str]:
    """What the readers of a node read in its place, at the end of the passes."""
    waiting, seen = [name], {name}
    gone = {edit.node for row in passes for edit in row.edits if edit.what == "removed"}
    while waiting and len(seen) < _LONGEST_CHAIN:
        for found in _readers_read(waiting.pop(), passes):
            if found in seen:
                continue
            seen.add(found)
            if found in gone:
                waiting.append(found)
            else:
                yield found


def _readers_read(name: str, passes: Sequence[Pass]) -> Iterator[str]:
    for row in passes:
        for edit in row.edits:
            if edit.what == "added" and name in edit.replaces:
                yield edit.node
            before, after = _NODE.findall(edit.before), _NODE.findall(edit.after)
            if edit.what == "changed" and len(before) == len(after):
                yield from (new for old, new in zip(before, after, strict=True) if old == name != new)
            elif edit.what == "removed" and name in before:
                yield edit.node  # it went with its reader, whose own readers tell more


def _not_made(lineage: Lineage, nodes: Mapping[NodeRef, Node]) -> str:
    """Of nodes of an earlier graph, of which no later one has anything."""
    last = max((STAGES.index(kin.stage) for kin in nodes), default=-1)
    if last < 0 or all(kin.stage != STAGES[-1] for kin in lineage.nodes):
        return ""
    names = [node.name for kin, node in nodes.items() if kin.stage == STAGES[last]]
    graphs = {kin.graph for kin in nodes}
    read = {name for kin, node in lineage.nodes.items() if kin.graph in graphs for name in node.inputs}
    has = f"{_GRAPHS[STAGES[last]]} has {_few(names)}"
    if read.isdisjoint(names):
        return f"no operation is made for this: {has}, which nothing reads, and no later graph has it"
    return f"no operation is made for this: {has}, and no later graph has anything made of it on this line"


def _few(names: Sequence[str] | Mapping[str, object]) -> str:
    return few([f"`{name}`" for name in names], _MOST)
