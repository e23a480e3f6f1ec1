"""Rotary positions in bfloat16."""

import torch
from both_ways import both_ways
from torch import Tensor


def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def rotary(query: Tensor, key: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return turned(query, cos, sin), turned(key, cos, sin)


torch.manual_seed(123)
sizes = ((1, 2, 7, 16), (1, 1, 7, 16), (1, 7, 16), (1, 7, 16))
both_ways(rotary, *(torch.randn(size, dtype=torch.bfloat16) for size in sizes), fullgraph=True, dynamic=True)
