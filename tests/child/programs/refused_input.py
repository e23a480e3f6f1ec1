"""Compiled code that raises an error when it is called: a view is changed in place before and behind a branch."""

import sys

import torch


def step(x):
    a = x.clone()[0:1]
    b = a.squeeze()
    a[0] = 0
    if a[0] < 1e5:
        a[0] += 1
    a[0] += 2
    return b


@torch.library.custom_op("refused::input", mutates_args=())
def refuses(x: torch.Tensor) -> torch.Tensor:
    raise RuntimeError("no inputs on Tuesdays")


@refuses.register_fake
def _(x):
    return torch.empty_like(x)


def own_operator(x):
    return refuses(x + 1) * 2


def plain(x):
    raise RuntimeError("not compiled")


if __name__ == "__main__":
    torch.compile(lambda x: x * 2)(torch.ones(3))
    given = torch.tensor([1.0, 2.0])
    if sys.argv[1] == "plain":
        plain(given)
    torch.compile({"step": step, "own_operator": own_operator}[sys.argv[1]])(given)
