"""A graph that adds in an order which differs from run to run, and one that does not; called three times each."""

import torch


@torch.compile
def scattered(index: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Several threads add to the same elements."""
    return torch.zeros(50).index_put((index,), x, accumulate=True).sin()


@torch.compile
def steady(x: torch.Tensor) -> torch.Tensor:
    """The same each time."""
    return torch.softmax(x, -1).sum(0)


torch.manual_seed(0)
INDEX, X = torch.randint(0, 50, (200_000,)), torch.randn(200_000)
for _ in range(3):
    print(scattered(INDEX, X).shape)
    print(steady(X.view(100, -1)).shape)
