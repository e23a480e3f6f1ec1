"""A linear layer of which torch measures its own C++ template against MKL; the second compile has it from the cache."""

import torch
from torch._dynamo.utils import counters
from torch._inductor import config

config.max_autotune = True
config.max_autotune_gemm_backends = "CPP,ATEN"
config.freezing = True

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU()).eval()
with torch.no_grad():
    for config.autotune_local_cache in (False, True):
        torch.compiler.reset()
        print(torch.compile(model)(torch.ones(16, 64)).shape, counters["inductor"]["select_algorithm_autotune"])
