"""An FX graph with one more node for each buffer that is a step of a node's lowering: its loops, as a function."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

import torch
from torch.fx import Graph, GraphModule, Node

from inspect_compile.lowering.intervention.numerics.steps.loops import Loops, Operand
from inspect_compile.lowering.intervention.numerics.steps.recorded import Recorded, recorded
from inspect_compile.probe import let_pass

_SUFFIX: Final = "_of_loops"


class Step(NamedTuple):
    """A buffer of which loops are known."""

    buffer: str
    maker: str
    """The FX node that is lowered to it, among others."""
    loops: Recorded
    operands: tuple[Operand, ...]
    nodes: tuple[str, ...]
    """The nodes with the operands' values, which may be those of other steps."""
    after: tuple[str, ...]
    """Nodes that have changed these values in place, and return nothing."""
    sizes: tuple[tuple[Any, str], ...]
    """Sizes that are not known before a call, each with the node that has its value."""
    device: torch.device


def node_of(buffer: str) -> str:
    """The node that a step's buffer has in the graph of `extended`."""
    return buffer + _SUFFIX


def steps_of(
    lowering: Any,
    nodes: Mapping[str, str],
    views: Mapping[str, Any],
    makers: Mapping[str, str],
    changes: Mapping[str, Mapping[str, str]],
) -> list[Step]:
    """The steps of a graph of torch's GraphLowering, in the order of its operations.

    `nodes`: buffers whose value a node has; `views`: in which form. `makers`: buffer → the node that is lowered to it,
    in the order of the operations. `changes`: operation → the buffers that it changes in place, each with the node that
    has the value from then on.
    """
    sizes, known, seen = _sizes(lowering), dict(nodes), dict(views)
    found: dict[str, Step] = {}
    returns_nothing = {one.name for one in lowering.module.graph.nodes if one.op != "output" and _has_no_value(one)}
    changed: dict[str, str] = {}
    for operation in lowering.operations:
        for name, node in changes.get(operation.get_operation_name(), {}).items():
            if node in returns_nothing and name in known:
                changed[name] = node
            else:
                known[name] = node
                seen.pop(name, None)
        buffer = next((one.get_name() for one in operation.get_outputs() if one is operation), "")
        maker = makers.get(buffer, "")
        if buffer in nodes or buffer not in makers:
            continue
        try:
            step = _step(lowering, buffer, maker, known, seen, sizes, changed)
        except Exception as error:
            let_pass(error)
            continue
        if step is not None:
            found[buffer] = step
            known[buffer] = node_of(buffer)
    wanted: set[str] = set()
    for buffer, step in reversed(found.items()):
        if buffer in wanted or buffer not in lowering.removed_buffers:
            wanted |= {buffer, *(one.buffer for one in step.operands)}
    return [step for buffer, step in found.items() if buffer in wanted]


def sources_of(steps: Collection[Step]) -> dict[str, frozenset[str]]:
    """Node of a step → the nodes that it is computed from, steps among them."""
    found: dict[str, frozenset[str]] = {}
    for step in steps:
        found[node_of(step.buffer)] = frozenset().union(
            step.nodes, *(found[node] for node in step.nodes if node in found)
        )
    return found


def extended(module: GraphModule, steps: Collection[Step]) -> GraphModule:
    """A copy of the graph that has the steps too, each as soon as its operands are there."""
    positions = {node.name: at for at, node in enumerate(module.graph.nodes)}
    last_input = max((at for at, node in enumerate(module.graph.nodes) if node.op == "placeholder"), default=-1)
    following: dict[int, list[Step]] = {}
    for step in steps:
        needed = (*step.nodes, *step.after, *(node for _, node in step.sizes))
        at = max([last_input, positions.get(step.maker, 0) - 1, *(positions[name] for name in needed)])
        following.setdefault(at, []).append(step)
        positions[node_of(step.buffer)] = at
    graph, made = Graph(), dict[str, Node]()
    for at, node in enumerate(module.graph.nodes, start=-1):
        for step in following.get(at, ()):
            _put(graph, step, made)
        made[node.name] = graph.node_copy(node, lambda one: made[one.name])
    return GraphModule(module, graph)


def _put(graph: Graph, step: Step, made: dict[str, Node]) -> None:
    loops = Loops(step.buffer, step.loops, step.operands, [size for size, _ in step.sizes])
    values, sizes = [made[name] for name in step.nodes], [made[name] for _, name in step.sizes]
    name = node_of(step.buffer)
    made[name] = graph.create_node("call_function", loops, (torch.float32, step.device, values, sizes), name=name)


def _step(
    lowering: Any,
    buffer: str,
    maker: str,
    nodes: Mapping[str, str],
    views: Mapping[str, Any],
    sizes: Mapping[Any, str],
    changed: Mapping[str, str],
) -> Step | None:
    made = lowering.try_get_buffer(buffer)
    loops = None if made is None else recorded(lowering, made)
    if loops is None or any(name not in nodes for name in loops.reads):
        return None
    operands = tuple(_operand(lowering.try_get_buffer(name), name, views.get(name)) for name in loops.reads)
    needed = loops.sizes.union(
        *(getattr(one, "free_symbols", set()) for operand in operands for one in (*operand.size, *operand.stride))
    )
    if any(one not in sizes for one in needed):
        return None
    return Step(
        buffer,
        maker,
        loops,
        operands,
        tuple(nodes[name] for name in loops.reads),
        tuple(changed[name] for name in loops.reads if name in changed),
        tuple((one, sizes[one]) for one in sorted(needed, key=str)),
        made.get_device(),
    )


def _has_no_value(node: Node) -> bool:
    """True for an operator that changes arguments in place, and returns nothing."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and not schema.returns and "val" in node.meta and node.meta["val"] is None


def _operand(buffer: Any, name: str, view: Any) -> Operand:
    return Operand(name, tuple(buffer.get_size()), tuple(buffer.get_stride()), None if view is None else tuple(view))


def _sizes(lowering: Any) -> dict[Any, str]:
    """Sizes that are inputs of the graph → their nodes."""
    found: dict[Any, str] = {}
    for node in _inputs(lowering):
        expression = getattr(getattr(node.meta.get("val"), "node", None), "expr", None)
        if getattr(expression, "is_Symbol", False):
            found.setdefault(expression, node.name)
    return found


def _inputs(lowering: Any) -> Iterator[Node]:
    return (node for node in lowering.module.graph.nodes if node.op == "placeholder")
