"""Matmuls whose sizes do not suit a GPU: a vocabulary of GPT-2's size, a small one, and one in float32."""

import torch


def pair(m: int, k: int, n: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.empty(m, k, dtype=dtype), torch.empty(n, k, dtype=dtype).t()


class Products(torch.nn.Module):
    def forward(self, *tensors: torch.Tensor) -> list[torch.Tensor]:
        return [first @ second for first, second in zip(tensors[::2], tensors[1::2], strict=True)]


given = [
    *pair(2048, 768, 50257, torch.bfloat16),
    *pair(64, 64, 33, torch.bfloat16),
    *pair(512, 1023, 512, torch.float32),
]
with torch.no_grad():
    print([one.shape for one in torch.compile(Products())(*given)])
