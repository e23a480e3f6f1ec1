"""torch._dynamo.reset() between compiles of the same functions, and a limit on how often a frame is compiled again."""

import torch
from torch._dynamo.utils import counters

torch._dynamo.config.recompile_limit = 2
for repetition in range(3):
    compiled = torch.compile(lambda x, by: x * by, dynamic=False)
    print(repetition, [compiled(torch.ones(2 + size), 2.0 * size).sum().item() for size in range(4)])
    print({name: dict(counted) for name, counted in counters.items()})
    torch._dynamo.reset()
