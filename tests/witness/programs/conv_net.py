"""A convolution and a linear layer, counted eager and compiled."""

import json

import torch
from torch.utils.flop_counter import FlopCounterMode

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Conv2d(10, 10, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(68640, 4))
x = torch.randn(1, 10, 90, 80)
with torch.no_grad():
    with FlopCounterMode(display=False) as counter:
        net(x)
    torch.compile(net)(x)
print(json.dumps({str(op): count for op, count in counter.get_flop_counts()["Global"].items()}))
