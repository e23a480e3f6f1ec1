"""Values that are computed where they are read, in several kernels; layers and turns of a loop that are alike."""

import torch


@torch.compile
def twice(x, y, w):
    a = x + y
    s = a.var(-1, keepdim=True)
    m = torch.mm(s.expand(64, 64).contiguous(), w)
    return (a * m).sum(-1)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(64)
        self.project = torch.nn.Linear(64, 64)

    def forward(self, x):
        h = self.norm(x)
        h = self.project(h)
        return x + h.sigmoid()


@torch.compile
def turns(x, weights):
    for w in weights:
        h = torch.relu(x)
        s = h.sum(-1, keepdim=True)
        x = torch.mm(h / s, w)
        y = torch.cumsum(x, -1)
        x = torch.mm(y, w)
    return x


@torch.compile
def joined(x, y, w):
    both = torch.cat([x * 2, y], 1)
    kept = both.relu()  # a pass makes one of each part, without a line of its own
    return torch.conv1d(kept.mT[None], w).tanh(), kept.sum()


with torch.no_grad():
    twice(torch.rand(64, 64), torch.rand(64, 64), torch.rand(64, 64))
    torch.compile(torch.nn.Sequential(Block(), Block(), Block()))(torch.rand(32, 64))
    turns(torch.rand(32, 32), [torch.rand(32, 32) for _ in range(3)])
    joined(torch.rand(16, 16), torch.rand(16, 16), torch.rand(4, 32, 3))
