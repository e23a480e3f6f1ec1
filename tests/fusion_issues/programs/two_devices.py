"""A step count on the CPU beside parameters on the GPU, as an optimizer that was moved may have it."""

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


@torch.compile
def step(parameter, gradient, total, count):
    count += 1
    total = total + gradient * gradient
    return parameter - 0.01 * gradient / (total.sqrt() + 1e-10) / count, total


sizes = torch.randn(4096, device=device)
print(step(sizes, torch.ones_like(sizes), torch.zeros_like(sizes), torch.tensor(0.0))[0].shape)
