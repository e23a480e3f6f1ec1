"""`torch.func.grad` of a function with a backward of its own, which says that the gradient is zero."""

from typing import Any

import torch
from both_ways import both_ways
from torch import Tensor


class NoGradient(torch.autograd.Function):
    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x.sin()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return torch.zeros_like(grad)


def slope(x: Tensor) -> Any:
    apply: Any = NoGradient.apply
    return torch.func.grad(lambda at: apply(at).sum())(x)


both_ways(slope, torch.arange(4.0))
