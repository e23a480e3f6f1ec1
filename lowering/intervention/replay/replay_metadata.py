"""The metadata of a recorded graph's nodes, made of what is known of it besides its text."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.traceback import NodeSource

from inspect_compile.lowering.intervention.replay.known import Known
from inspect_compile.torch_compat.compilers import OPERATOR, SAVES_EAGER_INPUTS
from inspect_compile.torch_compat.inductor import CONFIG


def annotate(module: GraphModule, known: Known) -> None:
    """Add what the dump knows to the nodes, including those of subgraphs, whose origins name kernels too."""
    _ordered(module, known.first)
    backward = frozenset(known.backward)
    for path, graph_module in module.named_modules():
        if isinstance(graph_module, GraphModule):
            prefix = path.replace(".", "/") + "/" if path else ""
            for node in graph_module.graph.nodes:
                _node(node, prefix + node.name, known)
                if prefix + node.name in backward:
                    node.meta["partitioner_tag"] = "is_backward"
    output = module.graph.output_node()
    outputs = list(output.args[0]) if isinstance(output.args[0], (tuple, list)) else [output.args[0]]
    is_inference = known.kind not in ("forward", "backward")
    all_visible = is_inference or (known.kind == "backward" and CONFIG.load().bw_outputs_user_visible)
    visible = range(len(outputs)) if all_visible else known.visible
    output.meta["user_visible_output_idxs"] = [index for index in visible if isinstance(outputs[index], Node)]


def keep_eager_inputs(module: GraphModule) -> None:
    """Keep what eager calls an operator with, where torch does as it traces the graph: Inductor gives the operator's
    inputs these strides. Nodes must have values.
    """
    saves = SAVES_EAGER_INPUTS.load()
    for part in module.modules():
        if isinstance(part, GraphModule):
            for node in part.graph.nodes:
                if node.op == "call_function" and saves(node.target, (node.args, node.kwargs)):
                    node.meta["eager_input_vals"] = torch.fx.node.map_aggregate((node.args, node.kwargs), _value)


def _value(argument: Any) -> Any:
    return argument.meta.get("val") if isinstance(argument, Node) else None


def _node(node: Node, path: str, known: Known) -> None:
    if isinstance(node.target, OPERATOR.load()):
        node.meta["original_aten"] = _operator(known.originals.get(path, "")) or node.target
    if earlier := known.origins.get(path):
        node.meta["from_node"] = _sources(earlier)
    if stack := known.stacks.get(path):
        node.meta["stack_trace"] = stack
    if of_module := known.modules.get(path):
        node.meta["nn_module_stack"] = {of_module[0]: tuple(of_module)}


def _ordered(module: GraphModule, first: Sequence[str]) -> None:
    """Reorder the nodes: the text has all inputs first, the graph need not."""
    nodes, leading = {node.name: node for node in module.graph.nodes}, frozenset(first)
    rest = next(node for node in nodes.values() if node.name not in leading)
    for name in first:
        if name in nodes:
            rest.prepend(nodes[name])


def _operator(name: str) -> Any:
    """The OpOverload of that name, if this process has it."""
    found: Any = torch.ops
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, OPERATOR.load()) else None


def _sources(earlier: Sequence[str]) -> list[NodeSource]:
    """FX's chain of earlier nodes that a node comes from."""
    found: list[NodeSource] = []
    for name in reversed(earlier):
        source = NodeSource(None)
        source.node_info = NodeSource.NodeInfo(name, "", -1)
        source.from_node = found
        found = [source]
    return found
