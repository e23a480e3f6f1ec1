"""A number of float64 without dimensions is added to bfloat16."""

import torch
from both_ways import both_ways
from torch import Tensor


def shifted(x: Tensor, number: Tensor) -> Tensor:
    return x + number


both_ways(shifted, torch.tensor([-1.703125], dtype=torch.bfloat16), torch.tensor(1.7, dtype=torch.float64))
