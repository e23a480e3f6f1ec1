"""Runs programs of this folder one after the other, in one process: `several.py [--cuda] NUMBER …`.

With --cuda their tensors are on a GPU.
"""

import runpy
import sys
import traceback
from pathlib import Path

import torch

if "--cuda" in sys.argv:
    torch.set_default_device("cuda")
for number in (word for word in sys.argv[1:] if word.isdigit()):
    print(number, end=" ", flush=True)
    try:
        runpy.run_path(str(Path(__file__).parent / f"issue_{number}.py"))
    except Exception:
        traceback.print_exc()
        print("failed")
