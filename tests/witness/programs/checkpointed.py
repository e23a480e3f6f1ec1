"""A block whose backward computes its forward again, counted eager and compiled."""

import json

import torch
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

torch.manual_seed(0)
block = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 64), torch.nn.GELU())
x = torch.randn(16, 32)


def step(x):
    return checkpoint(block, x, use_reentrant=False).square().mean()


with FlopCounterMode(display=False) as counter:
    step(x).backward()
block.zero_grad()
torch.compile(step)(x).backward()
print(json.dumps({str(op): count for op, count in counter.get_flop_counts()["Global"].items()}))
