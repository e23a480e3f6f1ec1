"""Convolutions as Inductor lowers them on a GPU, and linear layers of MKL's: without their bias, which the kernel that
reads the result adds.
"""

from collections.abc import Collection
from typing import Any, Final

import torch
from torch.fx import Graph, GraphModule, Node

_CONVOLUTION: Final = "aten.convolution"
_BIAS: Final = {_CONVOLUTION: 2, "mkl._mkl_linear": 3}
"""Operator → position of its bias."""
_WITHOUT: Final = "_without_bias"


def has_bias(node: Node) -> bool:
    """True for a convolution or linear layer with a bias that Inductor peels off."""
    at, value = _BIAS.get(_operator(node)) if node.op == "call_function" else None, node.meta.get("val")
    if at is None or node.args[at] is None or value is None:
        return False
    return _operator(node) != _CONVOLUTION or value.device.type != "cpu"


def without_bias(node: str) -> str:
    """The name of the operator without its bias in the graph of `peeled`."""
    return node + _WITHOUT


def of_the_graph(node: str) -> str:
    """The node of the FX graph that a node of `peeled`'s graph stands for."""
    return node.removesuffix(_WITHOUT)


def peeled(module: GraphModule, names: Collection[str]) -> GraphModule:
    """A copy of the graph in which each of these operators is one without a bias, and an addition of that name."""
    graph, made = Graph(), dict[Node, Node]()

    def new(target: Any, args: tuple[Any, ...], name: str) -> Node:
        return graph.create_node("call_function", target, args, name=name)

    for node in module.graph.nodes:
        if node.name not in names:
            made[node] = graph.node_copy(node, made.__getitem__)
            continue
        args = torch.fx.map_arg(node.args, made.__getitem__)
        at = _BIAS[_operator(node)]
        plain = new(node.target, (*args[:at], None, *args[at + 1 :]), without_bias(node.name))
        dimensions = node.meta["val"].dim() - 2 if _operator(node) == _CONVOLUTION else 0
        bias = new(torch.ops.aten.view.default, (args[at], [-1, *[1] * dimensions]), f"{node.name}_bias")
        made[node] = new(torch.ops.aten.add.Tensor, (plain, bias), node.name)
        made[node].meta = dict(node.meta)
    return GraphModule(module, graph)


def _operator(node: Node) -> str:
    return str(node.target).removesuffix(".default")
