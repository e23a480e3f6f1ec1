"""What a graph holds, with everything in the graphs nested in it."""

from collections.abc import Iterator
from typing import Any

from torch.fx import GraphModule, Node

from inspect_compile.torch_compat.compilers import OPERATOR, OPERATOR_PACKET


def nodes_of(module: GraphModule) -> Iterator[Node]:
    """The nodes of a graph and of the graphs nested in it, such as the branches of a conditional."""
    for part in module.modules():
        if isinstance(part, GraphModule):
            yield from part.graph.nodes


def operators_of(module: GraphModule) -> tuple[str, ...]:
    """Names of the operators that a graph and the graphs nested in it call, `aten::add`, each once."""
    kinds = OPERATOR.load(), OPERATOR_PACKET.load()
    called: list[Any] = [node.target for node in nodes_of(module) if isinstance(node.target, kinds)]
    return tuple(dict.fromkeys(getattr(target, "overloadpacket", target)._qualified_op_name for target in called))
