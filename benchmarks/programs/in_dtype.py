"""Runs a script in one dtype: `in_dtype.py float32|bfloat16|autocast DEVICE SCRIPT [ARG …]`.

`bfloat16` is the default dtype of all tensors that the script makes, `autocast` is around all of it.
"""

import contextlib
import runpy
import sys

import torch

dtype, device = sys.argv[1:3]
sys.argv = sys.argv[3:]
if dtype == "bfloat16":
    torch.set_default_dtype(torch.bfloat16)
with torch.autocast(device, torch.bfloat16) if dtype == "autocast" else contextlib.nullcontext():
    runpy.run_path(sys.argv[0], run_name="__main__")
