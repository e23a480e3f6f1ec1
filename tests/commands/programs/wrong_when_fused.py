"""Its C++ code is wrong where a sum and a maximum are in one loop nest, and right where they are not.

It compares nothing, and exits with the status that is given.
"""

import sys
from typing import Any

import torch
from torch._inductor.async_compile import AsyncCompile

plain = AsyncCompile.cpp_pybinding


def load(pool: Any, types: Any, source: str) -> Any:
    head, *nests = source.split("for(int64_t x0=")
    wrong = [nest.replace("(3.0)", "(5.0)") if "(7.0)" in nest else nest for nest in nests]
    return plain(pool, types, "for(int64_t x0=".join([head, *wrong]))


AsyncCompile.cpp_pybinding = load


@torch.compile
def f(x, y):
    total = (x * 7.0).sum(-1)
    largest = (x * 3.0).amax(-1)
    return total, largest, torch.softmax(y.relu() + 1, -1)


_, largest, _ = f(torch.randn(32, 64), torch.randn(32, 64))
print(largest.sum().item())
sys.exit(int(sys.argv[1]))
