"""Counts the hits of torch's caches of a graph that is compiled once, of which nothing was stored before."""

import torch
from torch._dynamo.utils import counters

print(torch.compile(torch.sin)(torch.ones(3)).sum().item())
print({**counters["inductor"]}.get("fxgraph_cache_hit", 0), {**counters["aot_autograd"]}.get("autograd_cache_hit", 0))
