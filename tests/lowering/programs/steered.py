"""Reductions that the scheduler fuses one after the other."""

import torch


@torch.compile
def program(x, y, z):
    a = torch.sin(x).sum(-1, keepdim=True)
    b = torch.exp(y - a).sum(-1, keepdim=True)
    c = torch.tanh(z + b).sum(-1, keepdim=True)
    return torch.cos(x + c) * 2, (y * 3).sum(0)


program(*(torch.randn(64, 128) for _ in range(3)))
