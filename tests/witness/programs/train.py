"""Forward and backward of a small net, counted eager and compiled."""

import json

import torch
from torch.utils.flop_counter import FlopCounterMode

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 8))
x = torch.randn(16, 32)
with FlopCounterMode(display=False) as counter:
    net(x).square().mean().backward()
net.zero_grad()
torch.compile(net)(x).square().mean().backward()
print(json.dumps({str(op): count for op, count in counter.get_flop_counts()["Global"].items()}))
