"""Forks children that compile, and kills each of them at some moment: `kills_children.py COUNT SEED`.

The first one is left to its end, which tells how long they take. Every other one is killed in the middle of that time,
when a graph is being compiled. Prints `PID killed|ended` for each.
"""

import os
import random
import signal
import sys
import time

import torch

def compiles() -> None:
    torch._dynamo.reset()
    torch.compile(lambda x: torch.softmax(x, 0) * 2)(torch.ones(7))
    torch.compile(lambda x, y: (x @ y).relu().sum(1))(torch.ones(4, 5), torch.ones(5, 6))


def child() -> int:
    pid = os.fork()
    if pid == 0:
        compiles()
        sys.stdout.flush()
        os._exit(0)
    return pid


count, chance = int(sys.argv[1]), random.Random(int(sys.argv[2]))
compiles()  # children find its modules and kernels
began = time.monotonic()
pid = child()
os.waitpid(pid, 0)
print(pid, "ended", flush=True)
seconds = time.monotonic() - began
for index in range(count):
    pid = child()
    time.sleep(chance.uniform(0, seconds) if index % 2 else chance.uniform(seconds / 4, seconds * 3 / 4))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    print(pid, "killed", flush=True)
