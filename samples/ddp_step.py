"""Look at what each rank compiled, and whether the ranks agree: a step of distributed data-parallel training.

`torchrun --nproc-per-node 2 samples/ddp_step.py` starts two ranks, Python alone one. With `--uneven`, the last rank's
batch is shorter: it compiles another program than the others do, which is how ranks come to wait for each other.
"""

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    """Two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Linear(16, 32)
        self.narrow = nn.Linear(32, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = F.gelu(self.wide(x))
        return self.narrow(hidden)


def join() -> None:
    """Become a rank of the run that torchrun started, or the only one."""
    if "RANK" in os.environ:
        dist.init_process_group("gloo")
    else:
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--uneven", action="store_true", help="a shorter batch for the last rank")
    uneven = parser.parse_args().uneven
    join()
    rank, ranks = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = Net()
    shared = DistributedDataParallel(torch.compile(model))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batch = 48 if uneven and rank == ranks - 1 else 64
    inputs = torch.randn(batch, 16, generator=torch.Generator().manual_seed(rank))
    targets = inputs.sum(dim=-1, keepdim=True).tanh()

    for step in range(3):
        optimizer.zero_grad()
        loss = F.mse_loss(shared(inputs), targets)
        loss.backward()
        optimizer.step()
        mean = loss.detach() / ranks
        dist.all_reduce(mean)
        if rank == 0:
            print(f"step {step}: loss {mean.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
