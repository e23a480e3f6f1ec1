"""A graph with an operator whose last bits differ from call to call, and one that is steady; called three times each."""

import itertools

import torch

CALLS = itertools.count()


@torch.library.custom_op("unsteady::scale", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    """Twice as much, and a little more with each call: as if sums were added in another order."""
    return x * (2 + next(CALLS) * 2.0**-23)


@scale.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.compile
def unsteady(x: torch.Tensor) -> torch.Tensor:
    """Two kernels: the operator's, and one that reads what it wrote."""
    scaled: torch.Tensor = scale(x)
    return scaled.sin() + 1


@torch.compile
def steady(x: torch.Tensor) -> torch.Tensor:
    """The same each time."""
    return torch.softmax(x, -1).sum(0)


torch.manual_seed(0)
X = torch.randn(100, 200)
for _number in range(3):
    print(unsteady(X).shape)
    print(steady(X).shape)
