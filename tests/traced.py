"""What nothing leads to: nodes without a lowering, buffers without a node or a reason."""

from collections import Counter

from inspect_compile.dump import Dump
from inspect_compile.facts import Lowering, Node
from tests.why_real import RealBuffer, why_real


def untold_nodes(dump: Dump) -> dict[tuple[str, str], int]:
    """Post-grad nodes that have not exactly one lowering → how many they have; and lowerings of no node."""
    told = Counter((row.graph, row.node) for row in dump.rows(Lowering))
    nodes = {(node.graph, node.name) for node in dump.rows(Node) if node.stage == "post_grad"}
    return {key: told[key] for key in sorted({*nodes, *told}) if told[key] != 1 or key not in nodes}


def untraced_buffers(dump: Dump) -> list[RealBuffer]:
    """Buffers of a schedule of which the node that made it, or why it is real, is not known."""
    found = [buffer for graph in dump.outermost() for buffer in why_real(dump, graph.graph)]
    return [buffer for buffer in found if buffer.node is None or not buffer.reason]
