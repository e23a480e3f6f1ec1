"""Limits that a program gives itself: of recursion, descriptors and memory, low until its end."""

import os
import resource
import sys

import torch

compiled = torch.compile(lambda x: (x.cos() + 1).sum())
print(compiled(torch.ones(3)).item(), flush=True)


def depth(number: int = 0) -> int:
    try:
        return depth(number + 1)
    except RecursionError:
        return number


kind = sys.argv[1]
if kind == "recursion":
    sys.setrecursionlimit(60)
    print(depth())
elif kind == "descriptors":
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    try:
        open("file")
    except OSError as error:
        print(error.strerror)
elif kind == "exhausted":
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    kept = []
    try:
        while True:
            kept.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        print(error.strerror)
elif kind == "processes":
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
elif kind == "memory":
    used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1])
    resource.setrlimit(resource.RLIMIT_AS, (used * 1024,) * 2)
    try:
        bytearray(1 << 30)
    except MemoryError:
        print("no memory")
else:
    resource.setrlimit(resource.RLIMIT_CPU, (int(resource.getrusage(resource.RUSAGE_SELF).ru_utime) + 30,) * 2)
print(compiled(torch.ones(3)).item() > 0, flush=True)
sys.exit(5)
