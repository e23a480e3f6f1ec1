"""tracemalloc is on while torch compiles, and is asked in every way: `python traces_memory.py FRAMES`.

Where the memory is from goes to the file that the environment variable TRACED_TO names.
"""

import json
import os
import sys
import tracemalloc
from pathlib import Path

tracemalloc.start(int(sys.argv[1]))

import torch  # noqa: E402 - what it allocates is traced, too


@torch.compile
def scaled(x: torch.Tensor) -> torch.Tensor:
    return (x.cos() * 3 + 1).sum()


before = tracemalloc.take_snapshot()
print(scaled(torch.ones(2)).item())
tracemalloc.reset_peak()
after = tracemalloc.take_snapshot()
changed = after.compare_to(before, "filename")
for key in ("filename", "lineno", "traceback"):
    print(key, [statistic.size > 0 for statistic in after.compare_to(before, key)[:3]])
after.dump("snapshot")
loaded = tracemalloc.Snapshot.load("snapshot")
Path("snapshot").unlink()
print(len(loaded.traces) == len(after.traces), loaded.traceback_limit)
now, peak = tracemalloc.get_traced_memory()
print(0 < now <= peak, tracemalloc.get_object_traceback(scaled) is not None)
tracemalloc.stop()
print(tracemalloc.is_tracing())
if "TRACED_TO" in os.environ:
    told = [[(row.traceback[0].filename, row.size) for row in rows] for rows in (after.statistics("filename"), changed)]
    Path(os.environ["TRACED_TO"]).write_text(json.dumps(told))
