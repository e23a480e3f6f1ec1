"""One small compile."""

import torch


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() + 1).relu()


print(f(torch.ones(8)).sum().item())
