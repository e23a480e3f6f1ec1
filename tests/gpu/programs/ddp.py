"""Distributed data-parallel training in several buckets: a graph for each of them, with the same kernels.

    torchrun --nproc-per-node 2 ddp.py TRACE [--mode MODE]

The layers differ in width alone, so that the names of their kernels do not tell them apart, but the profile's shapes
do. Rank 0 writes the trace. With the processors where there is no GPU.
"""

import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile

WIDTH = 256
HIDDEN = (640, 576, 512, 704, 768)


class Block(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.up = nn.Linear(WIDTH, hidden)
        self.down = nn.Linear(hidden, WIDTH)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(hidden) for hidden in HIDDEN)
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("--mode")
    arguments = parser.parse_args()
    has_gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if has_gpu else "gloo")
    rank = dist.get_rank()
    device = torch.device("cuda", rank) if has_gpu else torch.device("cpu")
    if has_gpu:
        torch.cuda.set_device(device)
    torch.manual_seed(0)
    model = Net().to(device)
    # DDPOptimizer takes no bucket smaller than the first one's 1 MiB: each block is one.
    shared = DistributedDataParallel(model, device_ids=[rank] if has_gpu else None, bucket_cap_mb=1)
    compiled = torch.compile(shared, mode=arguments.mode)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(128, WIDTH, device=device)

    def step():
        optimizer.zero_grad()
        compiled(x).square().mean().backward()
        optimizer.step()

    for _ in range(4):
        step()
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if has_gpu else [])]
    with profile(activities=activities, record_shapes=True) as prof:
        for _ in range(2):
            step()
        if has_gpu:
            torch.cuda.synchronize()
    if rank == 0:
        prof.export_chrome_trace(arguments.trace)
    dist.destroy_process_group()


main()
