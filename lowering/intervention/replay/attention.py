"""Attention in a graph recorded on the CPU, decomposed as on the GPU that this process stands in for."""

import operator
from typing import Any, Final

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx

from inspect_compile.torch_compat.compilers import DECOMPOSITION_TABLE

_OF_CPU: Final = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
_OPERATOR: Final = torch.ops.aten.scaled_dot_product_attention.default
_TOLD: Final = ("stack_trace", "nn_module_stack", "from_node", "original_aten")


def put_back(module: GraphModule) -> int:
    """Decompose the CPU's attention operator again for the GPU, if nothing but its result is read: a backward needs the
    CPU's other outputs.

    Nodes must have values. Returns the number of replaced nodes.
    """
    count = 0
    for node in module.graph.find_nodes(op="call_function", target=_OF_CPU):
        if all(user.target is operator.getitem and user.args[1] == 0 for user in node.users):
            count += _replaced(module, node)
    return count


def _replaced(module: GraphModule, node: Node) -> bool:
    arguments: tuple[Any, ...] = node.args
    query, key, value, *more = arguments
    dropout = more[0] if more else 0.0
    is_causal = more[1] if len(more) > 1 else False
    mask, scale = node.kwargs.get("attn_mask"), node.kwargs.get("scale")
    given = [one for one in (query, key, value, mask) if isinstance(one, Node)]

    def attention(*tensors: Any) -> Any:
        bias = tensors[3] if len(tensors) > 3 else None
        return _OPERATOR.decompose(*tensors[:3], bias, dropout, is_causal, scale=scale)

    values = [one.meta["val"] for one in given]
    traced = make_fx(attention, decomposition_table=DECOMPOSITION_TABLE.load()())(*values)
    traced.graph.eliminate_dead_code()
    if traced.graph.find_nodes(op="get_attr"):
        return False
    places: dict[Node, Any] = dict(zip(traced.graph.find_nodes(op="placeholder"), given, strict=True))
    before = set(module.graph.nodes)
    with module.graph.inserting_before(node):
        result: Any = module.graph.graph_copy(traced.graph, places)
    for made in set(module.graph.nodes) - before:
        made.meta.update({name: node.meta[name] for name in _TOLD if name in node.meta})
    for user in list(node.users):
        user.replace_all_uses_with(result)
        module.graph.erase_node(user)
    module.graph.erase_node(node)
    return True
