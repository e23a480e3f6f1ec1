"""Two graphs: one with an operator that only this script knows, and one without."""

import torch


@torch.library.custom_op("own::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    """2 x."""
    return x * 2


@twice.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


print(torch.compile(lambda x: twice(x).sin())(torch.ones(4)).sum())
print(torch.compile(lambda x: (x.cos() + 1).sum())(torch.ones(4)))
