"""Two branches that have a kernel of the same source."""

import torch


@torch.compile
def either(x):
    return torch.cond(x.sum() > 0, lambda x: x.sin() @ x, lambda x: x.sin() @ x @ x, (x,))


with torch.no_grad():
    print(either(torch.ones(8, 8)).shape)
