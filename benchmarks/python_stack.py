"""What a compile costs by where Python's stack of frames stands when it begins: `python python_stack.py [--turns 3]`.

Plain torch, nothing of ours; docs/python-stack.md says what it shows.

CPython (3.11 and later) allocates frames in chunks of 16 kB and frees a chunk as soon as the first frame in it returns.
A call from the very end of a chunk therefore allocates a chunk and frees it again, each time. First a call of an empty
function is timed at each depth over some chunks; then a compile, in processes of its own, is begun at several depths,
and once from a frame that fills half of a chunk of 2 MB, above which there is room for all that the compile calls.
"""

import argparse
import functools
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, Final

DEPTHS: Final = (0, 27, 54, 81, 108)
ROOMY: Final = "roomy"
_ROOM: Final = 1 << 17
"""Slots of 8 bytes."""
_CALLS: Final = 20_000


def deeper(frames: int, call: Callable[[], Any]) -> Any:
    """The result of `call`, called below so many frames more."""
    return call() if frames <= 0 else deeper(frames - 1, call)


def roomy(call: Callable[[], Any]) -> Any:
    """The result of `call`, called from a frame that fills half of a chunk of its own."""

    def large() -> Any:
        return call()

    large.__code__ = large.__code__.replace(co_stacksize=_ROOM)
    return large()


def _empty() -> None:
    pass


def one_call() -> float:
    """Nanoseconds of CPU time that a call of an empty function takes from here, at best of three."""
    found = []
    for _ in range(3):
        started = time.process_time()
        for _ in range(_CALLS):
            _empty()
        found.append((time.process_time() - started) / _CALLS * 1e9)
    return min(found)


def compiled() -> None:
    """Print the CPU seconds of this process, and of its children, for the first call of a compiled model."""
    import os

    os.environ |= {"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1", "OMP_NUM_THREADS": "1"}
    import torch
    from torch import nn

    torch.manual_seed(0)
    at, backend = sys.argv[2:4]
    torch.compile(lambda x: x + 1, backend=backend)(torch.ones(2))  # imports what every compile needs
    layers = [nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32)) for _ in range(12)]
    model = torch.compile(nn.Sequential(*layers).eval(), backend=backend)
    given = torch.randn(4, 32)

    def measured() -> float:
        started = time.process_time()
        with torch.no_grad():
            model(given)
        return time.process_time() - started

    print(json.dumps(roomy(measured) if at == ROOMY else deeper(int(at), measured)))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--calls-only", action="store_true", help="no compile: torch need not be installed")
    parser.add_argument("--backend", default="inductor", help="without a C++ compiler: aot_eager_decomp_partition")
    options = parser.parse_args()
    found = [deeper(depth, one_call) for depth in range(400)]
    usual = statistics.median(found)
    dear = {depth: value for depth, value in enumerate(found) if value > 5 * usual}
    print(f"Python {sys.version.split()[0]}: a call of an empty function takes {usual:.0f} ns")
    for depth, value in dear.items():
        print(f"  {depth:>4} frames deeper: {value:,.0f} ns")
    most = max(roomy(functools.partial(deeper, depth, one_call)) for depth in range(0, 400, 4))
    print(f"  from a roomy frame: {most:.0f} ns at most")
    if options.calls_only:
        return
    taken: dict[str, list[float]] = {str(at): [] for at in (*DEPTHS, ROOMY)}
    for _ in range(options.turns):
        for at, seconds in taken.items():
            done = subprocess.run(
                [sys.executable, __file__, "--compile", at, options.backend], capture_output=True, text=True, check=True
            )
            seconds.append(json.loads(done.stdout.splitlines()[-1]))
    best = statistics.median(taken[ROOMY])
    print(f"A compile, CPU seconds of its process, median of {options.turns}:")
    for at, seconds in taken.items():
        middle = statistics.median(seconds)
        where = "from a roomy frame" if at == ROOMY else f"{at} frames deeper"
        print(f"  {where:<20} {middle:.2f} s  {middle / best:.2f}×  ({min(seconds):.2f} to {max(seconds):.2f})")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compile"]:
        compiled()
    else:
        main()
