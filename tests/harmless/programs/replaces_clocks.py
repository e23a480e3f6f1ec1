"""Compiles while a clock of Python's answers twice and then no more, as a test replaces it; before, or not, also once."""

import gc
import sys
import time
import unittest.mock

import torch

OWNERS = {"get_count": gc, "get_stats": gc}


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() + 1).relu()


if sys.argv[2:]:
    torch.compile(torch.cos)(torch.ones(2))
name = sys.argv[1]
answers = [(0, 0, 0)] * 2 if name in OWNERS else [1.0, 2.5]
with unittest.mock.patch.object(OWNERS.get(name, time), name, side_effect=answers) as replaced:
    print(f(torch.ones(8)).sum().item(), replaced.call_count)
