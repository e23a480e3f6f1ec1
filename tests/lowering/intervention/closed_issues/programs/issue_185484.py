"""A threshold that bfloat16 does not have."""

import torch
import torch.nn.functional as F
from both_ways import both_ways
from torch import Tensor


def shrunk(x: Tensor) -> Tensor:
    return F.softshrink(x, 9.99)


both_ways(shrunk, torch.tensor([-10.0625], dtype=torch.bfloat16))
