"""A graph break, a recompile for another size, and a graph with two kernels: `python traced.py`."""

import torch


def halves(x: torch.Tensor) -> torch.Tensor:
    y = (x - x.mean(dim=-1, keepdim=True)).relu()
    torch._dynamo.graph_break()
    return y @ y.transpose(0, 1)


compiled = torch.compile(halves)
for size in (8, 12):
    print(tuple(compiled(torch.ones(size, 32)).shape))
