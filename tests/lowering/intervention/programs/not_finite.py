"""Graphs whose results have NaN or Inf, or only pass through it; each is called once with it and once without."""

import sys

import torch


@torch.compile
def attend(x: torch.Tensor, weight: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """NaN where a row is masked as a whole: -inf is no mistake, -inf - -inf is."""
    scores = (x @ weight).masked_fill(mask, float("-inf"))
    return torch.softmax(scores, -1) @ weight.t()


@torch.compile
def logarithm(x: torch.Tensor) -> torch.Tensor:
    """NaN of a negative number, inside of a kernel."""
    return torch.log(torch.relu(x) * 2 - 1.0).sum(0)


@torch.compile
def narrow(x: torch.Tensor) -> torch.Tensor:
    """Inf where float16 ends."""
    return (x * 300).half().exp().sum()


@torch.compile
def through(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """An input has Inf."""
    return (x + y).tanh() * y


@torch.compile
def in_place(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Division by zero, in a buffer that is used again."""
    first = torch.sin(x) @ y
    second = first / (y - y.clamp(max=10))
    return torch.relu(second.t().contiguous()) + 1


@torch.compile
def in_order(x: torch.Tensor) -> torch.Tensor:
    """NaN that goes through an operator with two results."""
    return torch.sort(torch.log(x - 1))[0] * 2


def main() -> None:
    """Print all results: they are those of a plain run."""
    torch.manual_seed(0)
    x, weight = torch.randn(4, 8), torch.randn(8, 8)
    mask = torch.zeros(4, 8, dtype=torch.bool)
    print(attend(x, weight, mask))
    mask[2] = True
    print(attend(x, weight, mask))
    print(logarithm(torch.rand(5, 7) + 1))
    print(logarithm(torch.rand(5, 7)))
    print(narrow(torch.full((4,), 0.01)))
    print(narrow(torch.tensor([0.01, 1.0, 0.02, 0.0])))
    print(through(torch.ones(3), torch.tensor([1.0, float("inf"), 2.0])))
    print(in_place(torch.rand(8, 8) + 1, torch.rand(8, 8)))
    print(in_order(torch.tensor([3.0, 0.5, 2.0])))
    if len(sys.argv) > 1:
        print(torch.rand(3))


if __name__ == "__main__":
    main()
