"""What the pytest plugin is for: `pytest samples/pytest`. The first test looks at one compile, the second keeps it.

`pytest --inspect-compile-lock=update samples/pytest` writes compile_locks/ beside this file; without `=update` they
are held against it.
"""

from typing import Any

import torch
from torch import Tensor


class Block(torch.nn.Module):
    """A layer norm and what follows it."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(64)
        self.linear = torch.nn.Linear(64, 64)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.linear(self.norm(x))) + x


def test_the_norm_is_one_kernel(inspect_compile: Any) -> None:
    model, x = Block(), torch.ones(8, 64)
    with inspect_compile.capture() as compiled:
        torch.compile(model)(x)
    compiled.assert_no_graph_breaks()
    compiled.assert_fused("relu", "add")
    compiled.assert_kernels(at_most=2)


def test_results_are_right_and_sizes_do_not_recompile(inspect_compile: Any) -> None:
    step = torch.compile(Block(), dynamic=True)
    with inspect_compile.capture(numerics=True) as compiled, torch.no_grad():
        for size in (8, 16, 32):
            step(torch.ones(size, 64))
    compiled.assert_no_recompiles()
    compiled.assert_numerics()
