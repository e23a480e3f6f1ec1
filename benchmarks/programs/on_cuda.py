"""Runs a script whose tensors are made on the GPU: `on_cuda.py SCRIPT [ARG …]`."""

import runpy
import sys

import torch

torch.set_default_device("cuda")
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
