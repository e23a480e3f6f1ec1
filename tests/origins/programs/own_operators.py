"""Operators that only this program defines: `python own_operators.py`."""

import torch
from torch import Tensor


@torch.library.custom_op("strange::baz", mutates_args=())
def baz(x: Tensor, sizes: list[int], scale: float, bias: Tensor | None = None, mode: str = "a") -> Tensor:
    """As wide as the sizes say."""
    return x.new_zeros(x.shape[0], sum(sizes)) + scale


@baz.register_fake
def _(x: Tensor, sizes: list[int], scale: float, bias: Tensor | None = None, mode: str = "a") -> Tensor:
    return x.new_empty(x.shape[0], sum(sizes))


@torch.library.custom_op("strange::parts", mutates_args=())
def parts(many: list[Tensor], flag: bool) -> tuple[Tensor, Tensor]:
    """Two tensors, one of them of another dtype."""
    return many[0] + many[1], (many[0] > 0).sum(0)


@parts.register_fake
def _(many: list[Tensor], flag: bool) -> tuple[Tensor, Tensor]:
    return torch.empty_like(many[0]), many[0].new_empty(many[0].shape[1], dtype=torch.int64)


@torch.library.custom_op("strange::fill", mutates_args=("out",))
def fill(out: Tensor, x: Tensor, value: int) -> None:
    """Writes to its argument."""
    out.copy_(x + value)


@torch.compile(dynamic=True)
def step(x: Tensor, y: Tensor) -> Tensor:
    wide = baz(x.relu() * 2, [3, 4], 0.5, bias=y) + 1
    same = baz(x.sigmoid(), [3, 4], 1, mode="b")
    left, right = parts([wide * same, wide + same], True)
    out = torch.empty_like(left)
    fill(out, left.sin(), 3)
    return (out.cos() * right.float()).sum(-1) + 1


print(tuple(step(torch.ones(8, 6), torch.ones(6)).shape))
