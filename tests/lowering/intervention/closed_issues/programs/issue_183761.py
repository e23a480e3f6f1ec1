"""float16 of a mask, cast and added in float32."""

import torch
from both_ways import both_ways
from torch import Tensor


def masked(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    half = torch.where(x > 0, x, torch.full_like(x, 0.1)).to(torch.float16)
    added = half.to(torch.float32) + y
    return added, added.sum()


torch.manual_seed(0)
both_ways(masked, torch.randn(8, 16), torch.randn(8, 16))
