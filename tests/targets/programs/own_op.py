"""Graphs: with an operator of this script, with a function that only it knows, with an operator of a module, without."""

import own_ops
import torch


@torch.library.custom_op("own::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    """2 x."""
    return x * 2


@twice.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.compiler.allow_in_graph
def shifted(x: torch.Tensor) -> torch.Tensor:
    """X + 1."""
    return x + 1


print(torch.compile(lambda x: twice(x).sin())(torch.ones(4)).sum())
print(torch.compile(lambda x: shifted(x).sin())(torch.ones(4)).sum())
print(torch.compile(lambda x: own_ops.thrice(x).sin())(torch.ones(4)).sum())
print(torch.compile(lambda x: (x.cos() + 1).sum())(torch.ones(4)))
