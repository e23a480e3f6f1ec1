"""os._exit: no exit handler runs, and what stands in a buffer is lost."""

import os

import torch

print(torch.compile(torch.cos)(torch.ones(3)).sum().item(), flush=True)
print("lost with the buffer, if there is one")
os._exit(7)
