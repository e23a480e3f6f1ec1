"""The launch that is the last to need the value of an FX node: it reads or writes it, or is compared with what comes of
it.
"""

from collections.abc import Callable, Collection, Iterable, Sequence

from torch.fx import Node

from inspect_compile.lowering.intervention.numerics.buffers import Launch
from inspect_compile.lowering.intervention.numerics.graphs.nodes import has_own_value
from inspect_compile.lowering.intervention.numerics.values import Plan


def last_uses(plan: Plan, chain: Callable[[str], list[str]], launches: Sequence[Launch]) -> dict[str, int]:
    """FX node → position of that launch among `launches`. `chain`: see `Buffers`."""
    made: dict[str, list[str]] = {}
    for buffer, operation in plan.written_by.items():
        made.setdefault(operation, []).append(buffer)
    nodes = {node.name: node for node in plan.module.graph.nodes}
    own = {name for name, node in nodes.items() if has_own_value(node)}
    found: dict[str, int] = {}
    changed: dict[str, set[str]] = {}
    """Buffer → the nodes whose values it has held since launches changed it in place."""
    parts: dict[str, set[str]] = {}
    """Buffer that is written in parts → what the launches which write them need: it is judged with the last of them."""
    for position, launch in enumerate(launches):
        buffers = {one for name in launch.names for one in chain(name)}
        buffers |= {one for operation in launch.operations for one in made.get(operation, ())}
        buffers |= {part for one in buffers for part, _ in plan.parts.get(one, ())}
        needed = {node for one in buffers if (node := plan.nodes.get(one) or plan.inputs.get(one))}
        for operation in launch.operations:
            for buffer, node in plan.mutates.get(operation, {}).items():
                changed.setdefault(buffer, set()).add(node)
                needed.add(node)
        needed |= {node for one in buffers for node in changed.get(one, ())}
        needed |= {source for one in needed for source in plan.steps.get(one, ())}
        needed |= _within(nodes, needed) & own
        for one in buffers & plan.assembled:
            parts.setdefault(one, set()).update(needed)
            needed |= parts[one]
        found |= dict.fromkeys(needed, position)
    return found


def _within(nodes: dict[str, Node], ends: Collection[str]) -> set[str]:
    """The nodes from which those of the names `ends` are computed, up to others of these."""
    found: set[str] = set()
    waiting = [each for name in ends if name in nodes for each in _read(nodes[name])]
    while waiting:
        node = waiting.pop()
        if node.name not in found and node.name not in ends:
            found.add(node.name)
            waiting += _read(node)
    return found


def _read(node: Node) -> Iterable[Node]:
    return node.all_input_nodes
