"""Nodes of Dynamo's graph that no post-grad node comes from: computed in eager mode, but not by the compiled
program.
"""

from dataclasses import dataclass

from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, Node


@dataclass(frozen=True)
class Lost:
    """A Dynamo node without descendants."""

    node: DynamoNode
    fate: str
    """dead (nobody reads it), merged (an equal node remains) or absorbed (it became part of another node)."""


def lost_nodes(dump: Dump, compile_id: str) -> list[Lost]:
    """The lost call nodes of one compile, forward and backward together, in Dynamo's order."""
    dynamo = dump.rows_of_compile(DynamoNode, compile_id)
    graphs = [graph.graph for graph in dump.graphs_of_compile(compile_id)]
    found = {
        origin
        for graph in graphs
        for node in dump.rows(Node, graph)
        if node.stage == "post_grad" and node.graph == graph
        for origin in (*node.origins, *_meant(node))
    }
    twins = _twins(dynamo)
    lost: list[Lost] = []
    dead: set[str] = set()
    for node in reversed(dynamo):
        if not node.op.startswith("call") or node.name in found:
            continue
        if all(user in dead for user in node.users):
            dead.add(node.name)
            lost.append(Lost(node, "dead"))
        else:
            lost.append(Lost(node, "merged" if node.name in twins else "absorbed"))
    return lost[::-1]


def _meant(node: Node) -> tuple[str, ...]:
    """The names it can be found by: a node without `from_node` may have kept its name."""
    return () if node.origins else (node.name,)


def _twins(nodes: list[DynamoNode]) -> set[str]:
    """Nodes that compute the same as an earlier node, through inputs that do so too."""
    first: dict[tuple[str, str], str] = {}
    same: dict[str, str] = {}
    for node in nodes:
        arguments = node.arguments
        for source in node.inputs:
            if source in same:
                arguments = arguments.replace(f"%{source}", f"%{same[source]}")
        original = first.setdefault((node.target, arguments), node.name)
        if original != node.name and node.op.startswith("call"):
            same[node.name] = original
    return set(same) | set(same.values())
