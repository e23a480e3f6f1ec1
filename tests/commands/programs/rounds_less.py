"""A check as a person writes it: compiles, runs, compares with eager. One of the fusions takes a rounding away.

`z` is stored in bfloat16. What is computed from it in the same kernel sees it before it is rounded.
"""

import sys

import torch


def program(x, y, w):
    z = x * y
    q = z @ w
    level = torch.exp(w.float()).sum(-1, keepdim=True)
    scaled = torch.sin(x.float()).sum(-1, keepdim=True) / level
    wave = torch.tanh(z.float() * 3)
    return q, wave, torch.cos(y.float() - scaled).sum(-1)


torch.manual_seed(0)
arguments = [torch.randn(64, 64, dtype=torch.bfloat16) for _ in range(3)]
expected = program(*arguments)
found = torch.compile(program)(*arguments)
error = max((a.float() - b.float()).abs().max().item() for a, b in zip(found, expected))
print(f"largest error {error}")
sys.exit(error > 1e-4)
