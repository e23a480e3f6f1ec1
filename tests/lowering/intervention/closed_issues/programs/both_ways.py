"""Calls a function as it is and compiled, on equal inputs, and says how far the results are from each other."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map_only

SAME, CLOSE, DIFFERENT = "same", "close", "different"
"""To the bit; by the tolerances of `torch.testing.assert_close`; more."""


def fresh(inputs: Sequence[Any]) -> list[Any]:
    """Copies with the strides of `inputs`, and their `requires_grad`."""

    def copy(one: Tensor) -> Tensor:
        strided = torch.empty_strided(one.shape, one.stride(), dtype=one.dtype, device=one.device)
        with torch.no_grad():
            base = torch.as_strided(strided, (strided.untyped_storage().nbytes() // strided.element_size(),), (1,))
            base.copy_(torch.as_strided(one.detach(), base.shape, (1,), one.storage_offset()))
        return strided.requires_grad_(one.requires_grad)

    return list(tree_map_only(Tensor, copy, list(inputs)))


def outcome(function: Callable[..., Any], inputs: Sequence[Any]) -> list[Any]:
    """Results, inputs after the call, and gradients of the inputs after a backward from all results."""
    inputs = fresh(inputs)
    results = function(*inputs)
    found = [one.detach().clone() if isinstance(one, Tensor) else one for one in tree_leaves(results)]
    given = [one for one in tree_leaves(inputs) if isinstance(one, Tensor)]
    found += [one.detach().clone() for one in given]
    to_train = [one for one in tree_leaves(results) if isinstance(one, Tensor) and one.requires_grad]
    if to_train:
        torch.autograd.backward(to_train, [torch.ones_like(one) for one in to_train])
        found += [one.grad for one in given if one.grad is not None]
    return found


def difference(one: Any, other: Any) -> str:
    """How far two results are from each other."""
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return SAME if one == other else DIFFERENT
    try:
        torch.testing.assert_close(other, one, equal_nan=True)
    except AssertionError:
        return DIFFERENT
    return SAME if torch.equal(one.nan_to_num(), other.nan_to_num()) else CLOSE


def both_ways(function: Callable[..., Any], *inputs: Any, **options: Any) -> None:
    """Print how far the compiled function's results are from its own; `options` are those of `torch.compile`."""
    expected, found = outcome(function, inputs), outcome(torch.compile(function, **options), inputs)
    print(max(map(difference, expected, found), key=(SAME, CLOSE, DIFFERENT).index))
