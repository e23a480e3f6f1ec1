"""The place of the largest element of a transposed copy that was changed in place."""

import torch
from both_ways import both_ways
from torch import Tensor


def largest(x: Tensor) -> Tensor:
    x = x.clone()
    x.sin_()
    return x.t().argmax()


torch.manual_seed(0)
both_ways(largest, torch.randn(5, 7))
