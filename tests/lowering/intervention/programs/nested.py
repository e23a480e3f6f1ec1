"""Branches, loops and regions: graphs that are nested in the compiled one, and in each other."""

import torch
from torch import Tensor
from torch._higher_order_ops.while_loop import while_loop


@torch.compiler.nested_compile_region
def region(x: Tensor, w: Tensor) -> Tensor:
    found: Tensor = (x @ w).relu() + 1
    return found


def choose(x: Tensor) -> Tensor:
    y = x.sin()
    inner: Tensor = torch.cond(
        y.sum() > 0,
        lambda one: torch.cond(one.sum() > 1e9, lambda two: two + 1, lambda two: two.exp() * 2, (one,)),
        lambda one: one - 1,
        (y,),
    )
    return inner.cos() + 1


def loop(x: Tensor) -> Tensor:
    def is_open(turn: Tensor, one: Tensor) -> Tensor:
        return turn < 20

    def body(turn: Tensor, one: Tensor) -> tuple[Tensor, Tensor]:
        return turn + 1, (one * 1.1 + 0.5).tanh()

    found: Tensor
    _, found = while_loop(is_open, body, (torch.tensor(0), x))  # type: ignore[no-untyped-call]
    return found.exp().sum(1)


def regions(x: Tensor) -> Tensor:
    w = x.sin()
    found: Tensor = region(region(x, w) / 16, w).softmax(-1)
    return found


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(16, 16).abs()
    for function in (choose, loop, regions):
        print(torch.compile(function)(x).sum().item())


if __name__ == "__main__":
    main()
