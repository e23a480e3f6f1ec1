"""A matmul with a relu behind it and a reduction, each measured: `max-autotune`, and what is named on the command line.

`subproc`: in processes of their own, and not from a cache. `descent`: configurations next to the best ones too.
"""

import sys

import torch
from torch._inductor import config

if "subproc" in sys.argv:
    config.autotune_in_subproc = True
    config.autotune_local_cache = False
if "descent" in sys.argv:
    config.coordinate_descent_tuning = True


@torch.compile(mode="max-autotune-no-cudagraphs")
def step(x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    hidden = torch.relu(x @ weight)
    return hidden, hidden.sum(0)


torch.manual_seed(0)
x, weight = (torch.randn(512, 512, device="cuda", dtype=torch.float16) for _ in range(2))
for _ in range(3):
    out, sums = step(x, weight)
print(out.shape, bool(torch.isfinite(sums).all()))
