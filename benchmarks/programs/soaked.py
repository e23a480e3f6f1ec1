"""A job that compiles rarely: `soaked.py MINUTES`, 10,000 calls with pauses between them, every 200th for a new length.

Prints one line of JSON each tenth of the time: calls, seconds on the clock, CPU seconds of the process and of what it
has waited for, and its memory in bytes.
"""

import json
import resource
import sys
import time
from pathlib import Path

import torch

CALLS, RECOMPILES = 10_000, 50
MINUTES = float(sys.argv[1])


def told(calls: int, begin: float) -> None:
    used = [resource.getrusage(one) for one in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    print(
        json.dumps(
            {
                "calls": calls,
                "seconds": time.monotonic() - begin,
                "cpu": sum(one.ru_utime + one.ru_stime for one in used),
                "bytes": pages * resource.getpagesize(),
            }
        ),
        flush=True,
    )


def main() -> None:
    torch.set_num_threads(1)
    torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 10 * RECOMPILES
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.LayerNorm(64))
    run = torch.compile(model, dynamic=False)
    begin = time.monotonic()
    with torch.no_grad():
        for call in range(CALLS):
            if call % (CALLS // 10) == 0:
                told(call, begin)
            run(torch.ones(1 + call * RECOMPILES // CALLS, 64))
            time.sleep(max(0.0, begin + 60 * MINUTES * (call + 1) / CALLS - time.monotonic()))
    told(CALLS, begin)


main()
