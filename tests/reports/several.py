"""Runs programs of this folder one after the other, in one process: `several.py PROGRAM …`.

One that ends with an exception, as some do, doesn't keep the next from running.
"""

import runpy
import sys
import traceback
from pathlib import Path

import torch

for name in sys.argv[1:]:
    try:
        runpy.run_path(str(Path(__file__).parent / "programs" / f"{name}.py"), run_name="__main__")
    except Exception:
        traceback.print_exc()
    torch._dynamo.reset()
