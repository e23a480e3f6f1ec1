"""Many compiles in one process, torch._dynamo.reset() between them: as a sweep over sizes, or a test suite, has them.

`sweep.py N`: N turns. Each compiles two small functions of one file, every tenth the second one's backward too, and
every fifth has the first one compiled again for another size.
"""

import sys

import torch

ROWS = (8, 16, 24, 32, 40)


def scaled(x: torch.Tensor, by: float) -> torch.Tensor:
    return torch.relu(x * by).sum(dim=1)


def centred(x: torch.Tensor) -> torch.Tensor:
    return (x - x.mean()) / (x.abs().amax() + 1)


total = 0.0
for turn in range(int(sys.argv[1])):
    torch._dynamo.reset()
    rows = ROWS[turn % len(ROWS)]
    first = torch.compile(scaled, dynamic=False)
    total += first(torch.ones(rows, 16), 2.0).sum().item()
    if turn % 5 == 0:
        total += first(torch.ones(rows + 1, 16), 2.0).sum().item()
    second = torch.compile(centred, dynamic=False)
    found = second(torch.ones(rows, 16, requires_grad=turn % 10 == 0))
    if found.requires_grad:
        found.sum().backward()
    total += found.sum().item()
print(f"{total:.1f}")
