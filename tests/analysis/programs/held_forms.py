"""What a wrapper can do with memory: branches, writes in place, views, tuples, and a step of training.

Mostly with operators that need no kernel of their own, which a compiler would take its time to build.
"""

import torch
import torch.nn.functional as F
from torch import nn


@torch.compile
def forms(x, total):
    total.mul_(2)
    y = torch.cond(x.sum() < 0, lambda x: x @ x @ x, lambda x: x @ x, (x @ x,))
    values, _ = torch.topk(y, 4)
    first, second = torch.ops.aten.split.Tensor(x @ y, 8)
    return values, first @ second.T, y @ x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(32, 64), nn.Linear(64, 8)

    def forward(self, x):
        return self.down(F.gelu(self.up(x))[:, 0])


torch.manual_seed(0)
with torch.no_grad():
    for sign in (1, -1):  # each branch once
        forms(sign * torch.ones(16, 16), torch.ones(3))
torch.compile(Net())(torch.randn(4, 6, 32)).sum().backward()
