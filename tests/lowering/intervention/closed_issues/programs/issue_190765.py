"""Each element twice, last first, with sizes that are symbols."""

import torch
from both_ways import both_ways
from torch import Tensor


def mirrored(x: Tensor) -> Tensor:
    return (x + 1.0).flatten().repeat_interleave(2).flip(0)


both_ways(mirrored, torch.arange(4.0).view(2, 2), dynamic=True)
