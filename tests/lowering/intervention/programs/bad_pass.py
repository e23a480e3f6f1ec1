"""Passes that change what a graph computes; the kernels compute what the graph then says."""

import sys
from typing import Any

import torch
from torch._inductor import config


def wrong_constant(graph: torch.fx.Graph) -> None:
    """A multiplication by 2 becomes one by 2.01."""
    for node in graph.nodes:
        if node.target is torch.ops.aten.mul.Tensor and node.args[1] == 2:
            node.args = (node.args[0], 2.01)


def no_relu(graph: torch.fx.Graph) -> None:
    """Every relu is left out."""
    for node in list(graph.find_nodes(op="call_function", target=torch.ops.aten.relu.default)):
        node.replace_all_uses_with(node.args[0])
        graph.erase_node(node)


def nothing(graph: torch.fx.Graph) -> None:
    """Another order of operands, which rounds the same."""
    for node in graph.nodes:
        if node.target is torch.ops.aten.add.Tensor and isinstance(node.args[1], torch.fx.Node):
            node.args = (node.args[1], node.args[0])


PASSES: dict[str, tuple[str, Any]] = {
    "wrong_constant": ("post_grad_custom_post_pass", wrong_constant),
    "no_relu": ("post_grad_custom_pre_pass", no_relu),
    "no_relu_in_joint": ("joint_custom_post_pass", no_relu),
    "nothing": ("post_grad_custom_post_pass", nothing),
}


def model(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Has all that the passes look for."""
    y = torch.relu(x @ w) * 2
    return torch.softmax(y - x.mean(-1, keepdim=True), -1) + w


torch.manual_seed(0)
where, function = PASSES[sys.argv[1]]
setattr(config, where, function)
x, w = torch.randn(8, 8, requires_grad=len(sys.argv) > 2), torch.randn(8, 8)
result = torch.compile(model)(x, w)
if result.requires_grad:
    result.sum().backward()  # type: ignore[no-untyped-call]
with torch.no_grad():
    print(float((result - model(x, w)).abs().max()) > 1e-3)
