"""The gradient at the edge of a margin that bfloat16 rounds to the edge."""

import torch
import torch.nn.functional as F
from both_ways import both_ways
from torch import Tensor


def loss(x: Tensor, y: Tensor, target: Tensor) -> Tensor:
    return F.margin_ranking_loss(x, y, target, margin=1.7)


def of(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.bfloat16)


both_ways(loss, of(1.703125, 1.703125).requires_grad_(), of(0, 0).requires_grad_(), of(1, 1))
