"""Records each program below FOLDER into a dump beside it, all in one process: `record_all.py FOLDER NAME …`."""

import runpy
import sys
import warnings
from pathlib import Path

import torch

import inspect_compile

warnings.simplefilter("ignore")
folder, *names = sys.argv[1:]
for name in names:
    for side in ("before", "after"):
        place = Path(folder, name, side)
        torch.set_grad_enabled(True)
        try:
            with inspect_compile.capture(place / "dump", recompile=True, level="texts"):
                runpy.run_path(str(place / "program.py"))
        except Exception as error:
            print(f"{name} {side}: {error!r}", flush=True)
