"""A model of elementwise steps under DistributedDataParallel, whose buckets cut it between two of them.

With `whole` nothing is cut; with `matrices` a matrix product stands at each cut.
"""

import sys
import tempfile

import torch
import torch.distributed as dist
from torch.nn import Linear, Module, Parameter, ParameterList

torch._dynamo.config.optimize_ddp = "whole" not in sys.argv


class Steps(Module):
    def __init__(self):
        super().__init__()
        self.scales = ParameterList([Parameter(torch.ones(768, 512)) for _ in range(3)])

    def forward(self, x):
        for scale in self.scales:
            x = (x * scale).sin()
        return x


class Matrices(Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (Linear(768, 768) for _ in range(3))

    def forward(self, x):
        return self.c(self.b(self.a(x.T).relu()).relu())


with tempfile.NamedTemporaryFile() as file:
    dist.init_process_group("gloo", init_method=f"file://{file.name}", rank=0, world_size=1)
    model = Matrices() if "matrices" in sys.argv else Steps()
    wrapped = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=1.5)
    torch.compile(wrapped)(torch.ones(768, 512)).sum().backward()
    dist.destroy_process_group()
