"""A lowering raises, once in the forward graph and once in the backward one, on autograd's thread."""

import traceback

import torch
from torch._inductor.lowering import register_lowering


@torch.library.custom_op("harmless::wave", mutates_args=())
def wave(x: torch.Tensor) -> torch.Tensor:
    return x.sin()


@wave.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@register_lowering(torch.ops.harmless.wave.default)
def lower(x: object) -> object:
    raise NotImplementedError("no lowering today")


class Wave(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: object, gradient: torch.Tensor) -> torch.Tensor:
        return torch.ops.harmless.wave(gradient)


@torch.compile
def forward(x: torch.Tensor) -> torch.Tensor:
    return wave(x) + 1


@torch.compile
def backward(x: torch.Tensor) -> torch.Tensor:
    return Wave.apply(x) + 1


try:
    forward(torch.ones(3))
except Exception:
    traceback.print_exc()
backward(torch.ones(3, requires_grad=True)).sum().backward()
