"""One rank of eight, in torch's fake process group: python ranks.py WHAT; or a real rank: ranks.py parallel."""

import sys

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as collectives
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.testing._internal.distributed.fake_pg import FakeStore

what = sys.argv[1]
if what == "parallel":
    dist.init_process_group("nccl")
else:
    dist.init_process_group("fake", rank=5, world_size=8, store=FakeStore())
torch.set_default_device("cuda")


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(64)
        self.up = torch.nn.Linear(64, 256)
        self.down = torch.nn.Linear(256, 64)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


match what:
    case "groups":
        dist.new_group([0, 2])
        three, two = dist.new_group([1, 5, 7]), dist.new_group([5, 6])

        @torch.compile
        def reduced(x):
            part = collectives.reduce_scatter_tensor(x.sin() * 2, "sum", 0, three)
            return part.cos() + collectives.all_reduce(x[:2], "max", two)

        print(tuple(reduced(torch.randn(6, 16)).shape))
        later = dist.new_group([4, 5])

        @torch.compile
        def summed(x):
            doubled = x * 2
            dist.all_reduce(doubled, group=later)
            return doubled + 1

        print(tuple(summed(torch.randn(6, 16)).shape))
    case "sharded":
        model = torch.nn.Sequential(Block(), Block())
        for block in model:
            block.compile()
            fully_shard(block)
        fully_shard(model)
        model(torch.randn(8, 64)).sum().backward()
    case "tensors":
        mesh = init_device_mesh("cuda", (2, 4), mesh_dim_names=("data", "tensor"))
        block = Block()
        parallelize_module(block, mesh["tensor"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
        block.compile()
        fully_shard(block, mesh=mesh["data"])
        block(torch.randn(8, 64)).sum().backward()
    case "parallel":
        model = torch.nn.parallel.DistributedDataParallel(Block().cuda(), device_ids=[0])
        torch.compile(model)(torch.ones(8, 64)).sum().backward()
dist.destroy_process_group()
