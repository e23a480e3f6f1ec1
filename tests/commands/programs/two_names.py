"""Memory that has two names: parts of a concatenation, a view that a library call makes, a result written in place."""

import torch


@torch.compile
def f(x, y, state):
    part = torch.relu(x)
    other = torch.sin(y)
    both = torch.cat([part, other])
    total = (both * y.sum()).sum()
    before = state.sum()
    seen = torch.view_as_complex(state.view(-1, 2))
    read = torch.view_as_real(seen * 2)
    state.fill_(3.0)
    return total, before, read, both


@torch.compile
def g(x, y):
    copied = (x + y).clone()
    turned = copied.t().t()
    kept = turned.to(torch.float32)
    unused = torch.sin(y)
    scaled = kept * 2
    chances = scaled.softmax(0)
    summed = chances.sum(1)
    return chances, summed


@torch.compile(dynamic=True)
def h(x):
    size = x.shape[0] * 2
    return x + size


f(torch.randn(100), torch.randn(50), torch.randn(20))
g(torch.randn(8, 4), torch.randn(8, 4))
h(torch.randn(6))
