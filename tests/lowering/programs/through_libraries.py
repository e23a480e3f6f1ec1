"""A step whose optimizer is compiled, too; and with `nested` a function that is compiled from inside of another call.

The line numbers are those that the test looks up by their comments.
"""

import sys

import torch
from torch import nn


def inner(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1  # in a compiled function


def outer(x: torch.Tensor) -> torch.Tensor:
    return torch.compile(inner)(x)  # calls a compiled function


def step() -> None:
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.compile(model)(torch.ones(2, 4)).sum().backward()  # calls a compiled module of torch
    torch.compile(optimizer.step)()  # steps


if "nested" in sys.argv:
    outer(torch.ones(3))
else:
    step()
