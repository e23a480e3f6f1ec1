"""A step count on the CPU beside parameters on the GPU, as an optimizer that was moved may have it."""

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


@torch.compile
def step(parameter, gradient, count):
    count = count * 0.9 + 1
    return parameter - 0.01 * gradient / count, count


parameter = torch.randn(4096, device=device)
print(*(value.device.type for value in step(parameter, torch.ones_like(parameter), torch.zeros(()))))
