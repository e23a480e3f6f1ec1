"""A graph break between two halves that launch kernels of the same names: the compile id tells them apart."""

import torch
from profiled import profiled

first, second = (torch.nn.Linear(256, 256).cuda().requires_grad_(False) for _ in range(2))


@torch.compile
def f(x):
    y = torch.relu(first(x)) + 1
    torch._dynamo.graph_break()
    return torch.relu(second(y)) + 1


x = torch.randn(256, 256, device="cuda")
profiled(lambda: f(x))
