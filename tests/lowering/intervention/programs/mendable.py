"""Compiles a function whose vectorized C++ code is wrong: a fault of `wrong_tanh`, which the graph calls an operator of,
so that whoever compiles the graph again has the fault, too; or, with `here`, of this program alone.

    python mendable.py [here]
"""

import sys

import torch
import wrong_tanh  # type: ignore[import-not-found]
from torch import Tensor


def f(x: Tensor, y: Tensor) -> Tensor:
    found: Tensor = (torch.tanh(x) * torch.ops.wrong_tanh.same(y) + 1).sum(-1)
    return found


if __name__ == "__main__":
    torch.manual_seed(0)
    if sys.argv[1:] == ["here"]:
        wrong_tanh.plant()
    with torch.no_grad():
        torch.compile(f)(torch.randn(16, 24), torch.randn(16, 24))
    print("done")
