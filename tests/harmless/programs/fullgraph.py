"""fullgraph=True: one that has no break, and one that has and is refused."""

import traceback

import torch


def whole(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


def broken(x: torch.Tensor) -> torch.Tensor:
    print("a break")
    return x.sin() + 1


print(torch.compile(whole, fullgraph=True)(torch.ones(2)))
try:
    torch.compile(broken, fullgraph=True)(torch.ones(2))
except Exception:
    traceback.print_exc()
print(torch.compile(broken)(torch.ones(2)))
