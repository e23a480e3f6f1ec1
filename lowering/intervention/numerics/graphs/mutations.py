"""Nodes that change their arguments, and whose schema does not say so: those that launch a Triton kernel which the
program brings, and higher-order operators that call an operator on copies of what it changes. A pass writes into the
metadata of the latter which copies can be left out.
"""

import sys
from typing import Any, Final

import torch
from torch.fx import Node

from inspect_compile.probe import let_pass
from inspect_compile.torch_compat import inductor, user_kernels

_DENSE: Final = {"auto_functionalized": inductor.FUNCTIONALIZED, "auto_functionalized_v2": inductor.FUNCTIONALIZED_V2}
"""Higher-order operator → what it does, given which arguments to copy."""
_BASES: Final = "_all_bases"
"""The argument of the newer one with the tensors that are changed; the older one has them under their own inductor."""
_COPIED: Final = "only_clone_these_tensors"
"""Which of the tensors a pass leaves as copies: their names, or of the newer one their positions."""


def is_functionalized(target: Any) -> bool:
    """True for a higher-order operator that calls an operator on copies of what that changes."""
    return not hasattr(target, "overloadpacket") and str(target) in _DENSE


def copied_by(node: Node) -> tuple[Any, ...] | None:
    """The arguments that the node still copies; None if it copies all that its operator changes."""
    if node.op != "call_function" or not is_functionalized(node.target):
        return None
    found = node.meta.get(_COPIED)
    return None if found is None else tuple(found)


def changed_without_copy(node: Node) -> list[Any]:
    """The arguments that its operator changes in place: nodes, and lists of them."""
    copied = copied_by(node)
    if copied is None:
        return []
    if _BASES in node.kwargs:
        bases: Any = node.kwargs[_BASES]
        return [one for at, one in enumerate(bases) if at not in copied and one is not None]
    arguments = node.args[0]._schema.arguments  # type: ignore[union-attr]
    changed = [one.name for one in arguments if one.alias_info is not None and one.alias_info.is_write]
    return [node.kwargs[name] for name in changed if name not in copied and node.kwargs.get(name) is not None]


def without_copies(node: Node, args: Any, kwargs: Any) -> Any:
    """What the node gives if only the copies are made that a pass has left."""
    operator, *_ = args
    return _DENSE[str(node.target)].load()(operator, copied_by(node), **kwargs)


def in_form_of(kwargs: Any, own: Any) -> Any:
    """The arguments, which are in another dtype, laid out in memory as `own`: views of them are taken by strides."""
    if _BASES not in kwargs:
        return kwargs
    bases = [_laid_out(one, its) for one, its in zip(kwargs[_BASES], own[_BASES], strict=True)]
    return {**kwargs, _BASES: bases}


def _laid_out(value: Any, own: Any) -> Any:
    if not isinstance(value, torch.Tensor) or not isinstance(own, torch.Tensor):
        return value
    form = *own.shape, *own.stride(), own.storage_offset()
    if not all(type(one) is int for one in form) or form == (*value.shape, *value.stride(), value.storage_offset()):
        return value
    last = sum((size - 1) * step for size, step in zip(own.shape, own.stride(), strict=True)) if own.numel() else -1
    memory = value.new_zeros(own.storage_offset() + last + 1)
    return memory.as_strided(own.shape, own.stride(), own.storage_offset()).copy_(value)


def launches_own_kernel(node: Node) -> bool:
    """True if the node launches a kernel of the program's and returns nothing; those that write to copies return them,
    as other nodes do.
    """
    is_operator = hasattr(node.target, "overloadpacket")  # most are, and looking the name up takes longer
    if node.op != "call_function" or is_operator or user_kernels.MUTATING.module not in sys.modules:
        return False
    return node.target is user_kernels.MUTATING.load()


def written_by_kernel(node: Node) -> list[Node]:
    """The arguments that the kernel of such a node writes to; all tensors where torch cannot tell."""
    kwargs: Any = node.kwargs
    tensors = {
        name: one
        for name, one in kwargs["kwargs"].items()
        if isinstance(one, Node) and isinstance(one.meta.get("val"), torch.Tensor)
    }
    given = {name: one.meta.get("val") if isinstance(one, Node) else one for name, one in kwargs["kwargs"].items()}
    try:
        found = user_kernels.WRITTEN.load()(
            kwargs["kernel_idx"], kwargs["constant_args_idx"], given, kwargs["tma_descriptor_metadata"]
        )
    except Exception as error:
        let_pass(error)
        return list(tensors.values())
    return [tensors[name] for name in found if name in tensors]
