"""A graph break in the middle, and batches of several sizes, for which Dynamo compiles again with symbols."""

import torch


@torch.compile
def scored(values: torch.Tensor) -> torch.Tensor:
    shifted = torch.sin(values) + values.shape[0]
    print("shape", tuple(shifted.shape))
    return torch.softmax(shifted @ shifted.transpose(0, 1), dim=-1).sum(dim=0)


torch.manual_seed(0)
for size in (5, 7, 9):
    print(scored(torch.randn(size, 6)).shape)
