"""Small programs that torch compiles in a special form each, for planted mistakes."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Template(nn.Module):
    """A matmul that is a C++ template with an epilogue, where it is tuned and weights are frozen."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(32, 64)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.up(x) * 1.25) - 0.3


class Picture(nn.Module):
    """A convolution in channels-last, and what is fused after it."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 8, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return F.avg_pool2d(torch.tanh(self.conv(x) * 1.25) - 0.3, 2)


def autocast(x: Tensor, weight: Tensor) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return (torch.tanh(x @ weight) * 1.25).float() - 0.3


def dynamic(x: Tensor, y: Tensor) -> Tensor:
    return torch.cat([x.tanh() * 1.25, y - 0.3], 0).softmax(0)[: x.shape[0] + 1]


def each(x: Tensor, y: Tensor) -> Tensor:
    """One operator for a list of tensors."""
    found = torch._foreach_mul([x, y], 1.25)
    torch._foreach_sub_(found, 0.3)
    return found[0].tanh() @ found[1].tanh().t()


def aliased(x: Tensor, y: Tensor) -> Tensor:
    """Views of an input that is changed in place, one of them returned."""
    rows = x[1:, ::2]
    rows.mul_(y[:, :4].exp() * 1.25 - 0.3)
    x[0].sub_(0.3)
    return x.t()[2:]
