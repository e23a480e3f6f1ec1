"""Two ranks of gloo, whose kernels stand around a collective. Rank 1 has a mistake: in the C++ code of the kernel before
it, in that of the one behind it, or made by a pass: `ranks.py WHERE`, with torchrun.
"""

import os
import sys
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
from torch import Tensor
from torch._inductor import config
from torch._inductor.async_compile import AsyncCompile


def plant_in_code(right: str, wrong: str) -> None:
    """Have the C++ code say `wrong` where it says `right`."""
    load = AsyncCompile.cpp_pybinding

    def edited(pool: Any, types: Any, source: str) -> Any:
        return load(pool, types, source.replace(right, wrong))

    AsyncCompile.cpp_pybinding = edited  # type: ignore[assignment, method-assign]


def plant_in_pass() -> None:
    """Have a pass over the graph make 1.5 of 1.25."""

    def edit(graph: torch.fx.Graph) -> None:
        for node in graph.nodes:
            node.args = tuple(1.5 if one == 1.25 else one for one in node.args)  # noqa: PLR2004

    config.post_grad_custom_post_pass = edit


@torch.compile
def summed(x: Tensor) -> tuple[Tensor, Tensor]:
    part = x.tanh() * 1.25
    whole: Tensor = funcol.all_reduce(part, "sum", [0, 1])
    return whole.sin() - 0.3, part


def main(where: str) -> None:
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    if os.environ["RANK"] == "1":
        if where == "pass":
            plant_in_pass()
        else:
            right, wrong = {"before": ("(1.25)", "(1.5)"), "behind": ("(0.3)", "(0.4)")}[where]
            plant_in_code(f"static_cast<float>{right}", f"static_cast<float>{wrong}")
    print([one.shape for one in summed(torch.randn(8, 16))])
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
