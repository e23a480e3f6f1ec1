"""A DataLoader's worker, started as the argument says (fork or spawn), compiles for a size of its own; so does the
program, before it."""

import sys

import torch
from torch.utils.data import DataLoader, Dataset


@torch.compile
def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * 3 + 1


class Numbers(Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> torch.Tensor:
        return scaled(torch.full((3,), float(index)))


if __name__ == "__main__":
    torch.manual_seed(0)
    print(scaled(torch.ones(2)).tolist())
    loader = DataLoader(Numbers(), batch_size=2, num_workers=1, multiprocessing_context=sys.argv[1], shuffle=True)
    print([batch.tolist() for batch in loader])
