"""The gradient of a tensor a part of which is replaced."""

import torch
from both_ways import both_ways
from torch import Tensor


def replaced(x: Tensor, y: Tensor) -> Tensor:
    return torch.slice_scatter(x, y, dim=0, start=1, end=4).sum()


both_ways(replaced, torch.arange(6.0).requires_grad_(), torch.arange(3.0).requires_grad_())
