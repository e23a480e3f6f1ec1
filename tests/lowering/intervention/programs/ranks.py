"""Two ranks of gloo, whose kernels stand around a collective; rank 1 has a mistake in its C++ code: `ranks.py`, with
torchrun.
"""

import os
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
from torch import Tensor
from torch._inductor.async_compile import AsyncCompile


def plant() -> None:
    """Load the constant 1.25 as 1.5."""
    load = AsyncCompile.cpp_pybinding

    def edited(pool: Any, types: Any, source: str) -> Any:
        return load(pool, types, source.replace("static_cast<float>(1.25)", "static_cast<float>(1.5)"))

    AsyncCompile.cpp_pybinding = edited  # type: ignore[assignment, method-assign]


@torch.compile
def summed(x: Tensor) -> Tensor:
    whole: Tensor = funcol.all_reduce(x.tanh() * 1.25, "sum", [0, 1])
    return whole.sin() - 0.3


def main() -> None:
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    if os.environ["RANK"] == "1":
        plant()
    print(summed(torch.randn(8, 16)).shape)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
