"""A forward, a backward and an inference graph, whose code Inductor keeps in its cache."""

import torch


def model(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return (torch.relu(x @ w) + 1).softmax(-1)


compiled = torch.compile(model)
x, w = torch.randn(32, 16), torch.randn(16, 24, requires_grad=True)
compiled(x, w).square().sum().backward()
with torch.no_grad():
    compiled(x, w)
