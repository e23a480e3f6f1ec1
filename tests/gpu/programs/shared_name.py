"""All Triton kernels are called triton_, as triton__0d1c was: operators on the CPU tell which one it is.

With --graphs, in the replays of a CUDA graph: only their order does.
"""

import sys

import torch
import torch._inductor.config
from profiled import profiled

torch._inductor.config.triton.unique_kernel_names = False


def f(x, w):
    y = torch.softmax(x @ w, -1)
    z = (y - y.amax(0)) @ w
    return torch.relu(z).sum(0), torch.sin(z + y).cumsum(-1)


compiled = torch.compile(f, mode="reduce-overhead" if "--graphs" in sys.argv else None)
x, w = torch.randn(512, 1024, device="cuda"), torch.randn(1024, 1024, device="cuda")
profiled(lambda: compiled(x, w))
