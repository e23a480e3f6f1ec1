"""The backward of a large norm: one kernel reduces along rows and columns, and what it leaves over is summed eagerly."""

import torch
from profiled import profiled

norm = torch.nn.LayerNorm(768).cuda()
compiled = torch.compile(norm)
x = torch.randn(65536, 768, device="cuda", requires_grad=True)
gradient = torch.randn(65536, 768, device="cuda")


def step():
    norm.zero_grad(set_to_none=True)
    x.grad = None
    compiled(x).backward(gradient)


profiled(step)
