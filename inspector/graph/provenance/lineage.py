"""Relates a node to the nodes of other FX graphs that it was made from, or that were made from it.

Dynamo's graph → AOTAutograd's joint graph → what AOTAutograd gave Inductor, forward and backward → what is lowered.
Known are FX's `from_node`, names that AOTAutograd and its partitioner keep, autograd's sequence numbers, the edits of
passes; of a node that no pass made, where all of these fail, the user's line. Pure; works on a dump of any age.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, Graph, JointNode, Location, Node
from inspect_compile.facts.nesting import nested_path, outermost
from inspect_compile.graph.names import aot_prefix
from inspect_compile.graph.passes.sources import PassSources
from inspect_compile.graph.rows import matched_inputs

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph

STAGES: Final = ("dynamo", "joint", "aot", "post_grad")
"""In the order in which graphs are made from each other."""

_MOST = 16
"""Maximum number of nodes that one was made from, if only a line or a pattern says so."""
_MOST_LOOKS = 256
_RECOMPUTED = re.compile(r"_recompute(?:_\d+)?$")
_RANDOM = re.compile(r"seed|rng|philox", re.IGNORECASE)


class NodeRef(NamedTuple):
    """A node of one of the graphs."""

    stage: str
    """One of STAGES."""
    graph: str
    """The graph's name; for Dynamo's and joint graphs the compile id."""
    name: str

    @classmethod
    def of(cls, node: Node) -> "NodeRef":
        """The identity of a node."""
        return cls(node.stage, node.graph, node.name)


class Link(NamedTuple):
    """A related node, and how the relation is known."""

    kin: NodeRef
    how: str
    """same name, from_node, input (same position among the inputs), gradient (autograd's number), `pattern NAME` or
    `pass NAME` that made one from the other, or same line.
    """


class Lineage:
    """The nodes of one compile, and how the nodes of each graph were made from those of earlier ones."""

    def __init__(self, graph: "CompiledGraph") -> None:
        """All graphs of the compile that made `graph`, one of Inductor's graphs."""
        found = graph.dump.graph(graph.name) or graph.dump.graph(outermost(graph.name))
        self.compile_id = found.compile_id if found is not None else None
        self.graphs = [graph.other(one.graph) for one in _of_one_compile(graph.dump, found)]
        self.nodes: dict[NodeRef, Node] = {}
        """In the order of the stages."""
        for node in _nodes(graph.dump, self.compile_id, self.graphs):
            kin = NodeRef.of(node)
            if isinstance(node, JointNode) and kin in self.nodes:
                kin = kin._replace(graph=f"{node.graph} {node.aot_graph}")  # one compile, split into several graphs
            self.nodes[kin] = node
        self._index()
        self._edits = PassSources(graph.dump, self.compile_id, self.graphs)
        self._inputs = self._matched_inputs()
        self._parents = {kin: tuple(dict.fromkeys(self._made_of(kin, node))) for kin, node in self.nodes.items()}
        self._children: dict[NodeRef, list[Link]] = {}
        for kin, links in self._parents.items():
            for link in links:
                self._children.setdefault(link.kin, []).append(Link(kin, link.how))

    def parents(self, kin: NodeRef) -> tuple[Link, ...]:
        """The nodes that it was made from directly."""
        return self._parents.get(kin, ())

    def children(self, kin: NodeRef) -> tuple[Link, ...]:
        """The nodes that were made from it directly."""
        return tuple(self._children.get(kin, ()))

    def ancestors(self, kin: NodeRef) -> list[Link]:
        """All nodes that it was made from, nearest first, each once."""
        return _walk(kin, lambda one: self._parents.get(one, ()))

    def descendants(self, kin: NodeRef) -> list[Link]:
        """All nodes that were made from it, nearest first, each once: the inverse of `ancestors`."""
        return _walk(kin, lambda one: self._children.get(one, ()))

    def line_of(self, kin: NodeRef) -> Location | None:
        """The source line: its own, else that of the nearest ancestor."""
        for one in (kin, *(link.kin for link in self.ancestors(kin))):
            if one in self.nodes and (where := self.nodes[one].where) is not None:
                return where
        return None

    def find(self, name: str) -> list[NodeRef]:
        """The nodes of that name in any graph."""
        return self._by_name.get(name, [])

    def why_none(self, kin: NodeRef) -> str:
        """Why a node comes from no earlier graph; empty if it does, or if there is no earlier graph."""
        node = self.nodes.get(kin)
        if node is None or kin.stage == STAGES[0] or self._parents.get(kin):
            return ""
        if not self._dynamo and not any(one.stage == "joint" for one in self.nodes):
            return "the dump has no earlier graph of this compile"
        if _RANDOM.search(node.name) and node.op == "placeholder":
            return "the random number state: Inductor and AOTAutograd pass it, not the program"
        if node.op == "placeholder" and node.name.startswith("tangents"):
            return "the gradient of a forward output: autograd passes it"
        if node.op == "placeholder" and self.path(kin):
            return "an input of a nested graph: the calling node passes it"
        if node.op == "placeholder":
            return "an input of the graph: AOTAutograd does not record which Dynamo input it is"
        if node.op == "get_attr":
            return "a constant or a nested graph that AOTAutograd or Inductor added"
        made = self._edits.made(*kin)
        if made is not None:
            return f"{made.kind} {made.name} has made it, and its source is not recorded"
        if node.origins and any(len(self._dynamo.get(name, ())) > 1 for name in node.origins):
            return f"it comes from {node.origins[0]}, and several nodes of Dynamo's graphs have this name"
        return "torch does not record its origin: no from_node, no source line"

    # Construction

    def _index(self) -> None:
        self._by_name: dict[str, list[NodeRef]] = {}
        self._dynamo: dict[str, list[NodeRef]] = {}
        self._lines: dict[tuple[str, int], list[NodeRef]] = {}
        """Source line → Dynamo's nodes on it that compute something."""
        self._joints: dict[str, dict[str, NodeRef]] = {}
        """`model__0_`, in nested graphs followed by their path → joint node by name."""
        for kin, node in self.nodes.items():
            self._by_name.setdefault(kin.name, []).append(kin)
            if kin.stage == "dynamo":
                self._dynamo.setdefault(kin.name, []).append(kin)
                if node.where is not None and node.op.startswith("call"):
                    self._lines.setdefault((node.where.file, node.where.line), []).append(kin)
            elif isinstance(node, JointNode):
                key = f"{aot_prefix(node.aot_graph)} {self.path(kin)}"
                self._joints.setdefault(key, {})[kin.name] = kin

    def _matched_inputs(self) -> dict[NodeRef, NodeRef]:
        """Inputs of joint and AOT graphs → Dynamo's inputs."""
        ours: dict[tuple[str, str], list[Node]] = {}
        keys: dict[tuple[str, str], dict[str, NodeRef]] = {}
        for kin, node in self.nodes.items():
            if node.op == "placeholder" and not self.path(kin):
                is_ours = kin.stage == "dynamo" or not node.name.startswith("tangents")
                if is_ours and not _RANDOM.search(node.name):
                    ours.setdefault((kin.stage, kin.graph), []).append(node)
                    keys.setdefault((kin.stage, kin.graph), {})[kin.name] = kin
        theirs = ours.pop(("dynamo", self.compile_id or ""), [])
        dynamo = keys.get(("dynamo", self.compile_id or ""), {})
        return {
            keys[place][name]: dynamo[found.name]
            for place, nodes in ours.items()
            if place[0] in ("joint", "aot")
            for name, found in matched_inputs(nodes, theirs).items()
        }

    def path(self, kin: NodeRef) -> str:
        """Path of a nested graph in the outermost one, `true_graph_0`."""
        if kin.stage in ("dynamo", "joint"):
            return _below(kin.graph.partition(" ")[0], self.compile_id or "")
        return nested_path(kin.graph)

    def _made_of(self, kin: NodeRef, node: Node) -> Iterable[Link]:
        """The related nodes of the nearest earlier graph that has any."""
        if kin.stage == "dynamo":
            return
        found: list[Link] = []
        if kin.stage == "post_grad":
            found = self._of_aot(kin)
        elif kin.stage == "aot":
            found = self._of_joint(kin)
        if isinstance(node, JointNode) and node.gradient_of:
            forward = kin._replace(name=node.gradient_of)
            found = [Link(forward, "gradient")] if forward in self.nodes and forward != kin else []
        if not found and kin in self._inputs:
            found = [Link(self._inputs[kin], "input")]
        yield from found or self._of_dynamo(kin, node)

    def _of_aot(self, kin: NodeRef) -> list[Link]:
        same = kin._replace(stage="aot")
        if same in self.nodes:
            return [Link(same, "same name")]
        return self._through_passes(kin, "aot")

    def _of_joint(self, kin: NodeRef) -> list[Link]:
        joint = self._joints.get(f"{aot_prefix(kin.graph)} {self.path(kin)}", {})
        for name in dict.fromkeys((kin.name, _RECOMPUTED.sub("", kin.name))):
            if name in joint:
                return [Link(joint[name], "same name")]
        return []

    def _through_passes(self, kin: NodeRef, stage: str) -> list[Link]:
        """Nodes of `stage`, the graph before the passes, from which one or several passes made this node."""
        found: dict[Link, None] = {}
        waiting, seen = deque([kin.name]), {kin.name}
        how = ""
        while waiting and len(seen) < _MOST_LOOKS and len(found) < _MOST:
            made = self._edits.made(kin.stage, kin.graph, waiting.popleft())
            if made is None:
                continue
            how = how or f"{made.kind} {made.name}"
            for name in made.sources:
                if kin._replace(stage=stage, name=name) in self.nodes:
                    found[Link(kin._replace(stage=stage, name=name), how)] = None
                elif name not in seen:
                    seen.add(name)
                    waiting.append(name)
        return list(found)

    def _of_dynamo(self, kin: NodeRef, node: Node) -> list[Link]:
        if node.op == "output":
            own = [one for one in self._dynamo.get("output", ()) if not self.path(one)]
            if own and not self.path(kin):
                return [Link(own[0], "same name")]
        found: dict[Link, None] = {}
        for name in node.origins:
            one = self._origin(kin, node, name)
            if one is not None:
                found[Link(one, "from_node")] = None
        if not found and node.origins:
            found.update(dict.fromkeys(self._before_pre_grad(node)))
        if found or node.where is None or node.op == "placeholder" or self._is_made(kin):
            return list(found)
        same = self._lines.get((node.where.file, node.where.line), [])[:_MOST_LOOKS]
        reads = {name for source in node.inputs[:_MOST] for name in self._origins_of(kin._replace(name=source))}
        near = [one for one in same if one.name in reads]  # what AOTAutograd adds to keep a mutation reads its value
        module = [one for one in same if self.nodes[one].module == node.module]
        return [Link(one, "same line") for one in (near or module or same)[:_MOST]]

    def _origins_of(self, kin: NodeRef) -> tuple[str, ...]:
        found = self.nodes.get(kin)
        return found.origins if found is not None else ()

    def _origin(self, kin: NodeRef, node: Node, name: str) -> NodeRef | None:
        """Dynamo's node of that name: of several, in graphs nested in each other, that of the same line, or the only
        one as deep; None where that does not decide."""
        there = self._dynamo.get(name, [])
        if len(there) < 2:
            return there[0] if there else None
        of_line = [one for one in there if node.where is not None and self.nodes[one].where == node.where]
        if len(of_line) == 1:
            return of_line[0]
        as_deep = [one for one in of_line or there if bool(self.path(one)) == bool(self.path(kin))]
        return as_deep[0] if len(as_deep) == 1 else None

    def _is_made(self, kin: NodeRef) -> bool:
        """Did a pass put it there, before AOTAutograd or after?"""
        early = NodeRef("dynamo", self.compile_id or "", kin.name)
        return any(self._edits.made(*one) is not None for one in (kin, kin._replace(stage="joint"), early))

    def _before_pre_grad(self, node: Node) -> list[Link]:
        """For a node that a pre-grad pass added, the nodes that it replaced in Dynamo's graph."""
        found: list[Link] = []
        for name in node.origins:
            made = self._edits.made("dynamo", self.compile_id or "", name)
            if made is not None:
                there = (one for source in made.sources for one in self._dynamo.get(source, ()) if not self.path(one))
                found += [Link(one, f"{made.kind} {made.name}") for one in there]
        return found[:_MOST]


def _walk(kin: NodeRef, step: Callable[[NodeRef], Sequence[Link]]) -> list[Link]:
    """All nodes reachable by `step` from `kin`, breadth first, each once."""
    found: dict[NodeRef, Link] = {}
    waiting = deque([kin])
    while waiting:
        for link in step(waiting.popleft()):
            if link.kin not in found and link.kin != kin:
                found[link.kin] = link
                waiting.append(link.kin)
    return list(found.values())


def _of_one_compile(dump: Dump, graph: Graph | None) -> list[Graph]:
    """The outermost graphs of the same compile, forward first."""
    if graph is None:
        return []
    if graph.compile_id is not None:
        return dump.graphs_of_compile(graph.compile_id)
    around = dump.graph(outermost(graph.graph))
    return [] if around is None else [around]


def _nodes(dump: Dump, compile_id: str | None, graphs: "list[CompiledGraph]") -> Iterable[Node]:
    if compile_id is not None:
        yield from dump.rows(DynamoNode, compile_id)
    yield from dump.rows(JointNode, compile_id or "")
    for stage in ("aot", "post_grad"):
        for graph in graphs:
            yield from graph.stage(stage)


def _below(graph: str, compile_id: str) -> str:
    """Path of a nested graph relative to the graph of its compile id."""
    return graph.removeprefix(compile_id).strip("/")
