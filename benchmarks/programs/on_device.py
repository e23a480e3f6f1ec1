"""Runs a script with its tensors on one device, and with the same data on any: `on_device.py cpu|cuda SCRIPT [ARG …]`.

What is random is drawn on the CPU, in numbers of few bits. Their sums are exact in any order, so that a value which
the program takes out of a tensor, and which becomes a constant in the next graph, is the same everywhere.
"""

import fcntl
import functools
import os
import runpy
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

LOCK = Path(os.environ.get("TORCHINDUCTOR_CACHE_DIR", tempfile.gettempdir())) / "timed"
STEPS = 64
"""To one."""


def same_everywhere(draw: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """`draw`, on the CPU and then moved to where the program wants it; compiled code and torch's own draw as always."""

    @functools.wraps(draw)
    def drawn(*arguments: Any, device: Any = None, **named: Any) -> torch.Tensor:
        if torch.compiler.is_compiling() or sys._getframe(1).f_globals.get("__name__") != "__main__":
            return draw(*arguments, device=device, **named)
        value = draw(*arguments, device="cpu", **named)
        if value.is_floating_point():
            value = (value * STEPS).round() / STEPS
        return value.to(device or torch.get_default_device())

    return drawn


def one_at_a_time(benchmark: Callable[..., Any]) -> Callable[..., Any]:
    """Programs that are compiled beside each other take turns where Inductor times something on the GPU."""

    held: list[bool] = []

    @functools.wraps(benchmark)
    def timed(*arguments: Any, **named: Any) -> Any:
        if held:  # what is timed times something itself
            return benchmark(*arguments, **named)
        with LOCK.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            held.append(True)
            try:
                return benchmark(*arguments, **named)
            finally:
                held.clear()

    return timed


if torch.cuda.is_available():
    from torch._inductor.runtime.benchmarking import InductorBenchmarker

    InductorBenchmarker.benchmark_gpu = one_at_a_time(InductorBenchmarker.benchmark_gpu)
torch.set_default_device(sys.argv[1])
torch.empty(0)  # torch notes which of its functions make tensors: its own, not those that take their places below
for name in ("rand", "randint", "randn"):
    setattr(torch, name, same_everywhere(getattr(torch, name)))
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
