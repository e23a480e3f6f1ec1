"""Library calls whose results other library calls, a pointwise operation and a reduction read."""

import torch


@torch.compile
def step(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    ordered, _ = torch.sort(x)
    best, _ = torch.topk(ordered, 3)
    product = x @ x
    gate = torch.sigmoid(product)
    rows = torch.logsumexp(x @ gate, dim=1)
    return best, torch.tanh(ordered), gate, rows


step(torch.randn(16, 16))
