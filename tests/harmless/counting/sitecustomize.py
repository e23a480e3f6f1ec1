"""Writes what Dynamo has counted when a process ends, to a file of the folder DYNAMO_COUNTED.

It stands in for the user's own sitecustomize, in every process of a run.
"""

import atexit
import contextlib
import os
import sys

COUNTED = ("frames", "stats", "graph_break", "unimplemented", "resumes", "compiled_autograd")
"""Not what its caches count, which depends on what may be taken from them."""


def _write() -> None:
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", {})
    counted = {name: dict(counters[name]) for name in COUNTED if counters.get(name)}
    if counted:
        # The program may have left no descriptor, or no room.
        with contextlib.suppress(OSError, MemoryError), open(os.path.join(FOLDER, str(os.getpid())), "w") as file:
            file.write(str(counted))


if FOLDER := os.environ.get("DYNAMO_COUNTED", ""):
    atexit.register(_write)
