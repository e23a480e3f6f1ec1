"""The running sum of ones of one dtype, asked for in another."""

import torch
from both_ways import both_ways
from torch import Tensor


def positions() -> Tensor:
    return torch.ones((2, 4, 4), dtype=torch.bool).cumsum(1, dtype=torch.bfloat16)


both_ways(positions)
