"""A recorded flex_attention as the torch that is here takes it: releases have added to its block mask and options.

Source: `BlockMask.as_tuple` and `_apply_kernel_options` of torch/nn/attention/flex_attention.py, torch 2.5 to 2.15.
"""

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch.fx import GraphModule, Node
from torch.nn.attention.flex_attention import BlockMask

_FLEX: Final = ("flex_attention", "flex_attention_backward")
_BLOCKS: Final = 8
"""Tensors that say which blocks are computed, the same in all releases."""
_LENGTHS: Final = 2
"""The lengths of the sequences, before them from torch 2.7 on."""
_REST: Final = 3
"""The sizes of a block and the mask, at the end. Between these and the blocks is what torch 2.13 added."""


_OPTIONS: Final = {
    "PRESCALE_QK": False, "ROWS_GUARANTEED_SAFE": False, "BLOCKS_ARE_CONTIGUOUS": False, "WRITE_DQ": True,
    "OUTPUT_MAX": False,
}  # fmt: skip
"""What the kernels are told since some release, by torch's own defaults."""


def adapt(module: GraphModule) -> int:
    """Give each call with another form of block mask that of this torch; what that added is as in a call without it.

    Nodes must have values. Returns how many were changed; one that cannot be is left as it is.
    """
    count = 0
    for part in module.modules():
        for node in part.graph.nodes if isinstance(part, GraphModule) else ():
            is_flex = getattr(node.target, "__name__", "") in _FLEX
            index = next((index for index, value in enumerate(node.args) if is_flex and _is_mask(value)), None)
            made = None if index is None else _adapted(node, node.args[index])
            if index is not None and made is not None:
                node.update_arg(index, made)
                for place, value in enumerate(node.args):
                    if isinstance(value, dict):
                        node.update_arg(place, {**_OPTIONS, **value})
                count += 1
    return count


def _is_mask(value: Any) -> bool:
    """Whether it ends in a graph, after two sizes."""
    return (
        isinstance(value, (tuple, list))
        and len(value) >= _BLOCKS + _REST
        and isinstance(value[-1], Node)
        and value[-1].op == "get_attr"
    )


def _adapted(node: Node, mask: Sequence[Any]) -> tuple[Any, ...] | None:
    wanted = _length()
    if len(mask) == wanted:
        return None
    lengths, blocks = list(mask[:_LENGTHS]), list(mask[_LENGTHS:-_REST])
    if len(mask) == _BLOCKS + _REST:
        if mask[-3] != mask[-2]:
            return None  # the two sizes were the other way round
        query, key = (argument.meta["val"].shape[-2] for argument in node.args[:2] if isinstance(argument, Node))
        lengths, blocks = [query, key], list(mask[:-_REST])
    added = wanted - _LENGTHS - _BLOCKS - _REST
    if added < 0 or not all(isinstance(length, (int, Node)) for length in lengths):
        return None
    kept = blocks[: _BLOCKS + added]
    return (*lengths, *kept, *[None] * (_BLOCKS + added - len(kept)), *mask[-_REST:])


def _length() -> int:
    """How many parts a mask of this torch has."""
    count, indices = torch.ones(1, 1, 1, dtype=torch.int32), torch.zeros(1, 1, 1, 1, dtype=torch.int32)
    return len(BlockMask.from_kv_blocks(count, indices).as_tuple())
