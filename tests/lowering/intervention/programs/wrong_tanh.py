"""An operator that returns a copy. With WRONG_TANH in the environment, vectorized C++ code of `tanh` is wrong."""

import os

import torch
from torch import Tensor
from torch._inductor.codegen.cpp import CppVecOverrides


@torch.library.custom_op("wrong_tanh::same", mutates_args=())
def same(x: Tensor) -> Tensor:
    return x.clone()


@same.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


def plant() -> None:
    CppVecOverrides.tanh = staticmethod(lambda x: f"{x}.tanh() * decltype({x})(1.25f)")  # type: ignore[method-assign]


if "WRONG_TANH" in os.environ:
    plant()
