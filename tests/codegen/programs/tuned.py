"""A linear layer for which torch measures its own C++ template against MKL, and a matmul of two choices of a library."""

import torch
from torch._inductor import config

config.max_autotune = True
config.max_autotune_gemm_backends = "CPP,ATEN"
config.freezing = True

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU()).eval()
with torch.no_grad():
    print(torch.compile(model)(torch.ones(16, 64)).sum().item())
