"""What a wrapper can do with memory: branches, writes in place, views, tuples, sizes that change, a step of training."""

import torch
import torch.nn.functional as F
from torch import nn


@torch.compile
def branches(x):
    y = x * 2
    return torch.cond(y.sum() > 0, lambda y: (y.tanh() @ y).relu(), lambda y: y.exp() + y, (y,)) + x


@torch.compile
def writes(x, total):
    total.add_(x.sin().sum())
    x.mul_(2)
    return x.cumsum(0) @ x.T


@torch.compile(dynamic=True)
def tuples(x):
    values, _ = torch.topk(x, 4)
    first, second = torch.ops.aten.split.Tensor(x @ x.T, x.shape[0] // 2)
    return values.softmax(-1), first + second.exp()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.norm, self.down = nn.Linear(32, 64), nn.LayerNorm(64), nn.Linear(64, 8)

    def forward(self, x):
        h = F.dropout(F.gelu(self.norm(self.up(x))), 0.1)
        return self.down(h[:, 0]).log_softmax(-1)


torch.manual_seed(0)
with torch.no_grad():
    branches(torch.ones(16, 16))
    writes(torch.randn(24, 24), torch.zeros(()))
    tuples(torch.randn(12, 20))
    tuples(torch.randn(16, 20))
F.nll_loss(torch.compile(Net())(torch.randn(4, 6, 32)), torch.arange(4)).backward()
