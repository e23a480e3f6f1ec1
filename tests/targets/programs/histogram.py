"""Counts whole numbers as a mixture of experts counts its tokens: a GPU has a histogram of them, a CPU has none."""

import torch


def counted(experts: torch.Tensor) -> torch.Tensor:
    return torch.histc(experts, bins=4, min=0, max=3).cumsum(0) * 2


experts = torch.tensor([0, 3, 3, 1, 2, 3], dtype=torch.int32, device="cuda")
print(counted(experts).tolist(), torch.histc(experts, bins=4, min=0, max=3).dtype)
print(torch.compile(counted)(experts).tolist())
