"""Nodes that launch a Triton kernel which the program brings, and return nothing: they write to their arguments."""

import sys
from typing import Any

import torch
from torch.fx import Node

from inspect_compile.probe import let_pass
from inspect_compile.torch_compat import user_kernels as names


def launches_own_kernel(node: Node) -> bool:
    """True if the node launches such a kernel; those that write to copies return them, as other nodes do."""
    is_operator = hasattr(node.target, "overloadpacket")  # most are, and looking the name up takes longer
    if node.op != "call_function" or is_operator or names.MUTATING.module not in sys.modules:
        return False
    return node.target is names.MUTATING.load()


def written(node: Node) -> list[Node]:
    """The arguments that such a node's kernel writes to; all tensors where torch cannot tell."""
    kwargs: Any = node.kwargs
    tensors = {
        name: one
        for name, one in kwargs["kwargs"].items()
        if isinstance(one, Node) and isinstance(one.meta.get("val"), torch.Tensor)
    }
    given = {name: one.meta.get("val") if isinstance(one, Node) else one for name, one in kwargs["kwargs"].items()}
    try:
        found = names.WRITTEN.load()(
            kwargs["kernel_idx"], kwargs["constant_args_idx"], given, kwargs["tma_descriptor_metadata"]
        )
    except Exception as error:
        let_pass(error)
        return list(tensors.values())
    return [tensors[name] for name in found if name in tensors]
