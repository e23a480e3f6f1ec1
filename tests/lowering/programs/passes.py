"""Passes of every stage, patterns, a branch, random numbers, forward and backward; says what torch counted."""

import json

import torch
from torch._dynamo.utils import counters


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = torch.nn.Linear(16, 16), torch.nn.LayerNorm(16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(torch.nn.functional.gelu(self.linear(x)))
        q = y.view(2, 2, 2, 8).transpose(1, 2)
        y = torch.nn.functional.scaled_dot_product_attention(q, q, q).transpose(1, 2).reshape(4, 16)
        y = torch.nn.functional.dropout(y, 0.1, True)
        return torch.cond(y.sum() > 0, lambda y: (y + 1).view(8, 8), lambda y: (y - 1).view(8, 8), (y,))


torch.compile(Net())(torch.randn(4, 16)).sum().backward()
names = ("pattern_matcher_count", "pattern_matcher_nodes")
print(json.dumps({name: counters["inductor"][name] for name in names}))
