"""A product is cast to bfloat16 before float32 is added."""

import torch
from both_ways import both_ways
from torch import Tensor


def cast(x: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    y = (x @ weight).to(torch.bfloat16) + bias
    return y, y.mean(-1)


torch.manual_seed(119)
both_ways(cast, torch.randn(2, 15, 32), torch.randn(32, 17), torch.randn(17), fullgraph=True, dynamic=True)
