"""Operators that a CPU has for fewer types than a GPU, eagerly, in a compiled function, and backward."""

import torch
from torch.nn import functional

voxels = torch.arange(64, dtype=torch.bfloat16, device="cuda").reshape(1, 1, 4, 4, 4)
pixels = torch.arange(64, dtype=torch.float16, device="cuda").reshape(1, 1, 8, 8)


def step(voxels: torch.Tensor, pixels: torch.Tensor) -> tuple[torch.Tensor, ...]:
    small = functional.interpolate(pixels, (4, 4), mode="bilinear", antialias=True)
    loss = functional.multi_margin_loss(small.flatten(1), torch.tensor([3], device=pixels.device))
    return functional.avg_pool3d(voxels * 2, 2), functional.rrelu(small - 20), loss


def shown(tensors: tuple[torch.Tensor, ...]) -> list[object]:
    return [(str(one.dtype), one.float().sum().item()) for one in tensors]


print(shown(step(voxels, pixels)))
print(shown(torch.compile(step)(voxels, pixels)))
leaves = voxels.requires_grad_(), pixels.requires_grad_()
sum(one.sum().float() for one in torch.compile(step)(*leaves)).backward()
print(shown(tuple(one.grad for one in leaves)))
print(torch.compile(lambda mask: mask.trace() + mask.abs().sum())(torch.eye(3, dtype=torch.bool, device="cuda")).item())
