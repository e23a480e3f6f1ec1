"""Counts the hits of torch's caches: a graph, and after a reset the same one again."""

import torch
from torch._dynamo.utils import counters

for _ in range(2):
    torch._dynamo.reset()
    print(torch.compile(torch.cos)(torch.ones(3)).sum().item())
print({**counters["inductor"]}.get("fxgraph_cache_hit", 0), {**counters["aot_autograd"]}.get("autograd_cache_hit", 0))
