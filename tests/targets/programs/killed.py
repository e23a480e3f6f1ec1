"""Compiles, and dies without a word."""

import os
import signal

import torch

torch.compile(lambda x: (x.cos() + 1).sum(0))(torch.ones(4, 4))
os.kill(os.getpid(), signal.SIGKILL)
