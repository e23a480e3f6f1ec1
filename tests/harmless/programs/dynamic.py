"""Sizes that vary: asked for, found out, marked, and taken from data."""

import torch
from torch._dynamo.utils import counters


def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * x.shape[0] + (1 if x.shape[0] > 4 else 2)


def nonzero(x: torch.Tensor) -> torch.Tensor:
    return x.nonzero().float() * 2


torch._dynamo.config.capture_dynamic_output_shape_ops = True
for dynamic in (True, None, False):
    torch._dynamo.reset()
    compiled = torch.compile(scaled, dynamic=dynamic)
    print(dynamic, [compiled(torch.ones(size)).sum().item() for size in (2, 3, 5, 6, 1, 0)])
marked = torch.ones(7)
torch._dynamo.mark_dynamic(marked, 0)
print(torch.compile(scaled)(marked).sum().item(), torch.compile(nonzero)(torch.eye(3)).tolist())
print({name: dict(counted) for name, counted in counters.items()})
