"""Two kernels whose names differ behind their first 150 characters alone."""

import torch

ONE = ("sin", "cos", "tanh", "exp", "sigmoid", "erf", "expm1", "log1p", "rsqrt", "atan", "asinh", "acosh", "sinh")
OTHER = ("floor", "ceil", "trunc", "neg", "square", "reciprocal", "sign", "round", "frac", "lgamma", "digamma")


def chain(x):
    for name in ONE:
        x = getattr(torch, name)(x.abs() + 2)
    for name in OTHER:
        x = getattr(torch, name)(x) + x
    return x


@torch.compile
def twice(x, w):
    return chain(chain(x) @ w)


print(twice(torch.rand(8, 8), torch.rand(8, 8)).shape)
