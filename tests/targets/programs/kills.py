"""Kills what compiles for one of two targets, and would die of writing to it."""

import json
import os
import signal
import time
from pathlib import Path

import torch

torch.compile(lambda x: x.cos() + 1)(torch.ones(4, 4))
told = Path("dump", "target_sm_75", "run.json")
while not told.exists():
    time.sleep(0.1)
worker = json.loads(told.read_text())["pid"]
os.kill(worker, signal.SIGKILL)
os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
torch.compile(lambda x: (x.sin() + 1).sum(0))(torch.ones(4, 4))
print("done")
