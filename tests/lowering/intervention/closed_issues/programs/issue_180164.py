"""The gradient of a tensor that is summed up along the dimension in which a part of it is replaced."""

import torch
from both_ways import both_ways
from torch import Tensor


def replaced(x: Tensor, y: Tensor) -> Tensor:
    return torch.slice_scatter(x, y, dim=1, start=0, end=6).sum(dim=1)


torch.manual_seed(0)
both_ways(replaced, torch.randn(4, 13, 33).requires_grad_(), torch.randn(4, 6, 33).requires_grad_())
