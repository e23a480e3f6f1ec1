"""Limits that a program gives itself, of recursion or of descriptors, which are reached until its end."""

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
else:
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    kept = []
    try:
        while True:
            kept.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        print(error.strerror)
print(compiled(torch.ones(3)).item() > 0, flush=True)
sys.exit(5)
