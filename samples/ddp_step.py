"""Look at the ranks: `inspect-compile run -- torchrun --nproc-per-node 2 samples/ddp_step.py`, then `show ranks`.

Each rank compiles the same step. With --differ, rank 1 gets a larger batch and a layer norm more, so its graphs differ;
where graphs hold collectives, that is how hangs begin.
"""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    """Two linear layers, normalised in between if asked for."""

    def __init__(self, normalises: bool) -> None:
        super().__init__()
        self.up, self.down, self.normalises = nn.Linear(16, 32), nn.Linear(32, 4), normalises

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.up(x))
        if self.normalises:
            hidden = nn.functional.layer_norm(hidden, (32,))
        return self.down(hidden)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--differ", action="store_true", help="give rank 1 another batch, and a layer norm")
    options = parser.parse_args()
    if dist.is_torchelastic_launched():
        dist.init_process_group("gloo")
    else:
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    rank = dist.get_rank()
    differs = options.differ and rank == 1
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.compile(Net(normalises=differs)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = model(torch.randn(12 if differs else 8, 16)).square().mean()
    loss.backward()
    optimizer.step()
    print(f"rank {rank}: loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
