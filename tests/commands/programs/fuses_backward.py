"""A check of the generated code: a loop nest of the backward graph that sums up three columns at once is wrong."""

import re
import sys

import torch
from torch._inductor.utils import run_and_get_code


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(64))
        self.norm = torch.nn.LayerNorm(64)

    def forward(self, x):
        return torch.softmax(torch.tanh(self.norm(x) * self.weight), -1)


net = torch.compile(Net())
_, codes = run_and_get_code(lambda: net(torch.randn(32, 64)).square().sum().backward())
forward, backward = codes
nests = backward.split("for(int64_t x0=")[1:]
sys.exit(any(len(set(re.findall(r"\btmp_acc(\d+)_vec\b", nest))) >= 3 for nest in nests))
