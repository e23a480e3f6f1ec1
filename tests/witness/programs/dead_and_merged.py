"""Three products, of which one is read by nobody and one is written twice; forward and backward."""

import json

import torch
from torch.utils.flop_counter import FlopCounterMode


def three(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    unread = torch.matmul(x, w + 1)
    first = torch.matmul(x, w)
    again = torch.matmul(x, w)
    unread = first.sin()
    return unread + again.cos()


x, w = torch.randn(16, 32, requires_grad=True), torch.randn(32, 32, requires_grad=True)
with FlopCounterMode(display=False) as counter:
    three(x, w).sum().backward()
torch.compile(three)(x, w).sum().backward()
print(json.dumps({str(op): count for op, count in counter.get_flop_counts()["Global"].items()}))
