"""The gradient of a matrix whose diagonal is replaced (also pytorch 182765)."""

import torch
from both_ways import both_ways
from torch import Tensor


def replaced(x: Tensor, diagonal: Tensor) -> Tensor:
    return torch.diagonal_scatter(x, diagonal, 0).sum()


torch.manual_seed(0)
both_ways(replaced, torch.randn(8, 8).requires_grad_(), torch.randn(8).requires_grad_())
