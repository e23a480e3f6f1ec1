"""Whether a tensor has a history after `detach_`."""

import torch
from both_ways import both_ways
from torch import Tensor


def detached(x: Tensor) -> tuple[Tensor, bool]:
    y = x * 2
    y.detach_()
    return y + 1, y.requires_grad


both_ways(detached, torch.arange(4.0).requires_grad_())
