"""A check that answers by the number of times it was asked: wrong, right, then wrong for ever."""

import sys
from pathlib import Path

import torch


@torch.compile
def program(x):
    return torch.softmax(x, -1)


program(torch.randn(8, 16))
counter = Path(sys.argv[1])
asked = int(counter.read_text()) if counter.exists() else 0
counter.write_text(str(asked + 1))
sys.exit(asked != 1)
