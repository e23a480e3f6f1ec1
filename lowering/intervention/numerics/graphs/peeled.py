"""Convolutions as Inductor lowers them on a GPU: without their bias, which the kernel that reads the result adds."""

from collections.abc import Collection
from typing import Any, Final

import torch
from torch.fx import Graph, GraphModule, Node

_WITHOUT: Final = "_without_bias"


def has_bias(node: Node) -> bool:
    """True for a convolution with a bias that Inductor peels off."""
    is_convolution = node.op == "call_function" and str(node.target) == "aten.convolution.default"
    value = node.meta.get("val")
    return is_convolution and node.args[2] is not None and value is not None and value.device.type != "cpu"


def without_bias(node: str) -> str:
    """The name of the convolution without its bias in the graph of `peeled`."""
    return node + _WITHOUT


def of_the_graph(node: str) -> str:
    """The node of the FX graph that a node of `peeled`'s graph stands for."""
    return node.removesuffix(_WITHOUT)


def peeled(module: GraphModule, names: Collection[str]) -> GraphModule:
    """A copy of the graph in which each of these convolutions is one without a bias, and an addition of that name."""
    graph, made = Graph(), dict[Node, Node]()

    def new(target: Any, args: tuple[Any, ...], name: str) -> Node:
        return graph.create_node("call_function", target, args, name=name)

    for node in module.graph.nodes:
        if node.name not in names:
            made[node] = graph.node_copy(node, made.__getitem__)
            continue
        args = torch.fx.map_arg(node.args, made.__getitem__)
        plain = new(node.target, (*args[:2], None, *args[3:]), without_bias(node.name))
        sizes = [-1, *[1] * (node.meta["val"].dim() - 2)]
        bias = new(torch.ops.aten.view.default, (args[2], sizes), f"{node.name}_bias")
        made[node] = new(torch.ops.aten.add.Tensor, (plain, bias), node.name)
        made[node].meta = dict(node.meta)
    return GraphModule(module, graph)
