"""Operators of every kind that a script defines for itself, in inference and in training."""

import torch
from torch.library import Library


@torch.library.custom_op("script::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def backward(context: object, gradient: torch.Tensor) -> torch.Tensor:
    return twice(gradient)


twice.register_autograd(backward)


@torch.library.custom_op("script::raise_", mutates_args={"x"})
def raise_(x: torch.Tensor, by: float) -> None:
    x.add_(by)


library = Library("plain", "DEF")
library.define("halved(Tensor x) -> Tensor")
library.impl("halved", lambda x: x / 2, "CPU")
library.define("swung(Tensor x, float by=2.0) -> Tensor")
library.impl("swung", lambda x, by=2.0: (x * by).sin(), "CompositeImplicitAutograd")
torch.library.register_fake("plain::halved", lambda x: torch.empty_like(x), lib=library)


@torch.library.triton_op("script::shifted", mutates_args=())
def shifted(x: torch.Tensor) -> torch.Tensor:
    return x + 1


@torch.compile
def first(x: torch.Tensor) -> torch.Tensor:
    return twice(x).sin()


@torch.compile
def second(x: torch.Tensor) -> torch.Tensor:
    y = x.cos()
    raise_(y, 2.0)
    return torch.ops.plain.swung(torch.ops.plain.halved(y)) + shifted(y)


x = torch.linspace(0, 1, 64, requires_grad=True)
first(x).sum().backward()
print(round(float(x.grad.sum()), 3))
with torch.no_grad():
    print(round(float(second(x).sum()), 3))
