"""os.fork before and after the first compile; parent and children compile, and end in every way."""

import os
import sys

import torch


@torch.compile
def squared(x: torch.Tensor) -> torch.Tensor:
    return x * x


def child(way: str) -> None:
    pid = os.fork()
    if pid == 0:
        print(way, squared(torch.full((3,), 2.0)).tolist(), flush=True)
        if way == "leaves":
            os._exit(5)
        if way == "raises":
            raise ValueError(way)
        sys.exit(6)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


child("exits")
print(squared(torch.ones(3)).tolist(), flush=True)
for way in ("exits", "leaves", "raises"):
    child(way)
print(torch.compile(torch.cos)(torch.ones(3)).sum().item())
