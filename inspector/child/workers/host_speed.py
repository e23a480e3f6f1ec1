"""Measures this machine's CPU and keeps the result: `doctor --measure` runs it as a separate process."""

import datetime
import time
from collections.abc import Callable

import torch

from inspect_compile.knowledge.targets.host import Host, cpu_name, keep

_ELEMENTS = 32 << 20
"""Elements of a float32 array: 128 MB, three of them, more than caches hold."""
_SIZE = 1024
_TIMES = 6


def main() -> None:
    """Measure, keep the result, and print where."""
    peak = {
        str(dtype).removeprefix("torch."): _matmul(dtype) for dtype in (torch.float32, torch.float64, torch.bfloat16)
    }
    found = Host(
        cpu_name(), torch.get_num_threads(), datetime.date.today().isoformat(), torch.__version__, _bandwidth(), peak
    )
    print(keep(found))  # noqa: T201


def _bandwidth() -> float:
    """Bytes per second: the fastest of STREAM's copy and triad and of a sum, which only reads."""
    a, b, c = (torch.ones(_ELEMENTS) for _ in range(3))
    moved = a.nbytes
    return max(
        2 * moved / _seconds(lambda: a.copy_(b)),
        3 * moved / _seconds(lambda: torch.add(b, c, alpha=3.0, out=a)),
        moved / _seconds(lambda: b.sum()),
    )


def _matmul(dtype: torch.dtype) -> float:
    """FLOP/s."""
    a, b = (torch.ones(_SIZE, _SIZE, dtype=dtype) for _ in range(2))
    return 2 * _SIZE**3 / _seconds(lambda: a @ b)


def _seconds(work: Callable[[], object]) -> float:
    """Time of the fastest run."""
    times = []
    for _ in range(_TIMES):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    main()
