"""A model of tests/harmless/programs, larger and on a CUDA device: `enlarged.py PROGRAM MODEL KIND`.

What cuBLAS and cuDNN keep for themselves is there before anything is compiled: in both threads, the program's own and
that of the backward.
"""

import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

SIZES = {
    "real_model.py": ("WORDS, BATCH, LENGTH, PIXELS = 97, 2, 16, 32", "WORDS, BATCH, LENGTH, PIXELS = 997, 4, 64, 128"),
    "plain_model.py": (
        "CHANNELS, PIXELS, NODES, EDGES = 16, 16, 12, 40",
        "CHANNELS, PIXELS, NODES, EDGES = 64, 128, 4096, 16384",
    ),
}
"""The line of the sizes in each program, and what stands in its place."""


def warm() -> None:
    """Matmuls in each of their forms, and a convolution, forward and backward."""
    convolution, linear = nn.Conv2d(8, 8, 3, padding=1), nn.Linear(64, 64)
    for dtype in (torch.float32, torch.float16):
        x = torch.randn(4, 8, 64, 64, dtype=dtype)
        y = F.linear(convolution.to(dtype)(x), linear.to(dtype).weight, linear.bias)
        (y.flatten(0, 1) @ y.flatten(0, 1).mT + y[0, 0].mm(y[0, 1])).float().mean().backward()
    torch.cuda.synchronize()


program = Path(__file__).parents[2] / "harmless" / "programs" / sys.argv[1]
torch.set_default_device("cuda")
warm()
source = program.read_text(encoding="utf-8")
old, new = SIZES[program.name]
assert source.count(old) == 1, f"{program} has other sizes"
sys.argv = [str(program), *sys.argv[2:]]
exec(compile(source.replace(old, new), str(program), "exec"), {"__name__": "__main__", "__file__": str(program)})
