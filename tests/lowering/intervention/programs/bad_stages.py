"""One model compiled again and again, each time with a mistake in another stage above the kernels: in a pass
over the graph, or in a lowering. Prints a line of JSON for each.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch._inductor import config, lowering
from torch.fx import Graph, Node

aten = torch.ops.aten
Edit = Callable[[Graph], None]


def model(x: Tensor, w: Tensor) -> Tensor:
    """Has all that the mistakes need."""
    y = torch.relu(x @ w) * 2
    kept = torch.where(y <= 1.5, torch.sin(y), torch.clamp(x, max=0.75))
    near = torch.sqrt(x * x + 0.25) - y.mean(-1, keepdim=True)
    joined = torch.cat([kept, near], 0)
    return torch.softmax(joined, -1) + torch.nn.functional.silu(joined)


def first(graph: Graph, target: Any, change: Callable[[Node], None]) -> None:
    for node in graph.find_nodes(op="call_function", target=target):
        change(node)
        return


def with_argument(target: Any, at: int, value: Any) -> Edit:
    return lambda graph: first(graph, target, lambda node: node.update_arg(at, value))


def with_target(target: Any, other: Any) -> Edit:
    return lambda graph: first(graph, target, lambda node: setattr(node, "target", other))


def swapped(target: Any, one: int = 0, other: int = 1) -> Edit:
    def change(node: Node) -> None:
        args = list(node.args)
        args[one], args[other] = args[other], args[one]
        node.args = tuple(args)

    return lambda graph: first(graph, target, change)


def left_out(target: Any) -> Edit:
    def change(node: Node) -> None:
        node.replace_all_uses_with(node.all_input_nodes[0])
        node.graph.erase_node(node)

    return lambda graph: first(graph, target, change)


def turned_parts(graph: Graph) -> None:
    first(graph, aten.cat.default, lambda node: node.update_arg(0, node.all_input_nodes[::-1]))


class Fault(NamedTuple):
    """`where` is the name of a hook of Inductor's, which gets `edit`, or a lowering, which `edit` replaces."""

    where: str
    edit: Any
    target: Any = None


PRE, POST = "post_grad_custom_pre_pass", "post_grad_custom_post_pass"
JOINT_PRE, JOINT_POST = "joint_custom_pre_pass", "joint_custom_post_pass"
FAULTS: dict[str, Fault] = {
    "constant": Fault(POST, with_argument(aten.mul.Tensor, 1, 2.05)),
    "constant earlier": Fault(PRE, with_argument(aten.mul.Tensor, 1, 2.05)),
    "no relu": Fault(PRE, left_out(aten.relu.default)),
    "no relu in the joint graph": Fault(JOINT_POST, left_out(aten.relu.default)),
    "no sine": Fault(JOINT_PRE, left_out(aten.sin.default)),
    "cosine": Fault(POST, with_target(aten.sin.default, aten.cos.default)),
    "swapped difference": Fault(POST, swapped(aten.sub.Tensor)),
    "swapped product": Fault(PRE, swapped(aten.mm.default)),
    "swapped choice": Fault(POST, swapped(aten.where.self, 1, 2)),
    "swapped choice in the joint graph": Fault(JOINT_POST, swapped(aten.where.self, 1, 2)),
    "other comparison": Fault(PRE, with_target(aten.le.Scalar, aten.ge.Scalar)),
    "other bound": Fault(POST, with_argument(aten.clamp_max.default, 1, 0.25)),
    "other dimension": Fault(POST, with_argument(aten.sum.dim_IntList, 1, [0])),
    "other mean": Fault(JOINT_PRE, with_argument(aten.mean.dim, 1, [0])),
    "no root": Fault(POST, left_out(aten.sqrt.default)),
    "turned parts": Fault(PRE, turned_parts),
    "sum for difference": Fault(JOINT_PRE, with_target(aten.sub.Tensor, aten.add.Tensor)),
    "lowering of sine": Fault("lowering", lowering.lowerings[aten.cos.default], aten.sin.default),
    "lowering of root": Fault("lowering", lowering.lowerings[aten.exp.default], aten.sqrt.default),
    "lowering of relu": Fault("lowering", lowering.lowerings[aten.neg.default], aten.relu.default),
    "lowering of a comparison": Fault("lowering", lowering.lowerings[aten.ge.Scalar], aten.le.Scalar),
}


def results(fault: Fault, x: Tensor, w: Tensor) -> Tensor:
    """What the model compiled with the mistake gives."""
    torch.compiler.reset()
    if fault.where != "lowering":
        with config.patch({fault.where: fault.edit}):
            return torch.compile(model)(x, w)
    kept = lowering.lowerings[fault.target]
    lowering.lowerings[fault.target] = fault.edit
    try:
        return torch.compile(model)(x, w)
    finally:
        lowering.lowerings[fault.target] = kept


def main() -> None:
    torch.manual_seed(0)
    x, w = torch.randn(8, 8), torch.randn(8, 8)
    with torch.no_grad():
        eager = model(x, w)
        for name, fault in FAULTS.items():
            apart = float((results(fault, x, w) - eager).abs().max())
            print(json.dumps({"fault": name, "where": fault.where, "apart": apart}), flush=True)


if __name__ == "__main__":
    main()
