"""Shapes that do not fit, found while Dynamo traces: the exception carries the user's line and a log with a stack."""

import torch


@torch.compile
def product(x: torch.Tensor) -> torch.Tensor:
    return x.sin() @ torch.ones(5, 5)


product(torch.ones(3, 3))
