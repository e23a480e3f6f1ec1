"""The gradient of a tensor whose beginning is replaced."""

import torch
from both_ways import both_ways
from torch import Tensor


def replaced(x: Tensor, y: Tensor) -> Tensor:
    return torch.slice_scatter(x, y, dim=0, start=0, end=2).sum()


both_ways(replaced, torch.arange(5.0).requires_grad_(), torch.arange(2.0).requires_grad_())
