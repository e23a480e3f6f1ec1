"""Runs a script with its tensors on one device, and with the same data on any: `on_device.py cpu|cuda SCRIPT [ARG …]`.

What is random is drawn on the CPU, in numbers of few bits. Their sums are exact in any order, so that a value which
the program takes out of a tensor, and which becomes a constant in the next graph, is the same everywhere.
"""

import functools
import runpy
import sys
from collections.abc import Callable
from typing import Any

import torch

STEPS = 64
"""To one."""


def same_everywhere(draw: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """`draw`, on the CPU and then moved to where the program wants it; torch's own code draws as always."""

    @functools.wraps(draw)
    def drawn(*arguments: Any, device: Any = None, **named: Any) -> torch.Tensor:
        if sys._getframe(1).f_globals.get("__name__") != "__main__":
            return draw(*arguments, device=device, **named)
        value = draw(*arguments, device="cpu", **named)
        if value.is_floating_point():
            value = (value * STEPS).round() / STEPS
        return value.to(device or torch.get_default_device())

    return drawn


torch.set_default_device(sys.argv[1])
for name in ("rand", "randint", "randn"):
    setattr(torch, name, same_everywhere(getattr(torch, name)))
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
