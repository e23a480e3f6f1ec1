"""Exit handlers that write files, print, raise and compile, in their order."""

import atexit
import sys
from pathlib import Path

import torch


@torch.compile
def cubed(x: torch.Tensor) -> torch.Tensor:
    return x**3


def write(name: str) -> None:
    Path("written").mkdir(exist_ok=True)
    Path("written", name).write_text(f"{cubed(torch.full((2,), 2.0)).tolist()} {ascii(sys.argv)}\n")
    print("wrote", name)
    print("wrote", name, file=sys.stderr)


def fail() -> None:
    raise OSError("at exit")


atexit.register(write, "last.txt")
atexit.register(lambda: print(torch.compile(torch.cos)(torch.ones(3))))
atexit.register(fail)
atexit.register(write, "first.txt")
print("ends", cubed(torch.ones(2)).tolist(), ascii(__file__))
