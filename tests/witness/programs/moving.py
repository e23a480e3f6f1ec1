"""Kernels that read some buffers in part, several times, in another order, or where values say."""

import torch
from torch.nn import functional


@torch.compile(dynamic=False)
def loops(x, y, w, i):
    rows = torch.softmax(x, -1)
    turned = y.t() * x + w
    left, right = x.chunk(2, -1)
    part = x[:, ::4] * 2
    return rows.sum(0), turned, left * right, part, functional.embedding(i, x), torch.cat((x, y.t()), 1) + 1


@torch.compile(dynamic=False)
def calls(x, w, b):
    b.add_(1)
    return torch.addmm(b, x[:, :16], w).relu(), torch.sort(x)


torch.manual_seed(0)
x, y = torch.randn(64, 32), torch.randn(32, 64)
loops(x, y, torch.randn(32), torch.randint(0, 64, (5,)))
calls(x, torch.randn(16, 24), torch.randn(24))
