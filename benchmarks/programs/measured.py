"""What the programs of bench_compile.py share: compile one model, call it, and say what that took."""

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

CALLS = 100


def _cpu_seconds() -> float:
    """Of this process and of the children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def measure(model: Callable[..., Any], *inputs: torch.Tensor, trains: bool = False) -> None:
    """Print one JSON line: seconds of the first call and of CALLS later ones, peak bytes, and what came out.

    With `trains` a call is one step, forward and backward.
    """
    synchronize = torch.cuda.synchronize if inputs[0].is_cuda else lambda: None
    compiled = torch.compile(model)

    def call() -> None:
        result = compiled(*inputs)
        if trains:
            result.square().mean().backward()

    with torch.set_grad_enabled(trains):
        wall, cpu = time.perf_counter(), _cpu_seconds()
        call()
        synchronize()
        compile_wall, compile_cpu = time.perf_counter() - wall, _cpu_seconds() - cpu
        wall = time.perf_counter()
        for _ in range(CALLS):
            call()
        synchronize()
        calls_wall = time.perf_counter() - wall
    # Linux tells kilobytes, macOS bytes.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    told = {"compile_wall": compile_wall, "compile_cpu": compile_cpu, "calls_wall": calls_wall, "peak_bytes": peak}
    print(json.dumps(told), flush=True)
