"""A small training step with something to find in it: a graph break, recompiles, a copy, an operator without code.

The lines that a test looks for have a comment.
"""

import torch
from torch import nn


@torch.library.custom_op("mine::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    return x * 3


@scale.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(64, 64) / 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        turned = (x @ self.weight).view(16, 32, 64).transpose(0, 1).contiguous()  # copies
        return turned.view(512, 64) @ self.weight


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Layer(), Layer(), Layer()])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        print("halfway")  # breaks
        return x.relu() + 1


@torch.compile
def own(x: torch.Tensor) -> torch.Tensor:
    return scale(x.sin()) + 1  # has no code


@torch.compile(dynamic=False)
def repeated(x: torch.Tensor, times: int) -> torch.Tensor:  # is compiled again
    return x * times


torch.manual_seed(0)
net = torch.compile(Net())
for _ in range(3):
    net(torch.randn(512, 64)).sum().backward()
with torch.no_grad():
    own(torch.randn(64, 64))
    for times in range(2, 5):
        repeated(torch.ones(8), times)
