"""Returns Python values: one that is another one when it is compiled, some that are not, one made of a tensor's."""

import torch
from torch import Tensor


@torch.compile
def values(x: Tensor) -> tuple[Tensor, bool, int, str]:
    return x + 1, torch.compiler.is_compiling(), x.dim(), "name"


@torch.compile
def of_a_tensor(x: Tensor) -> tuple[Tensor, bool]:
    return x + 2, bool(x.sum() > 0) and torch.compiler.is_compiling()


values(torch.ones(3))
of_a_tensor(torch.ones(3))
