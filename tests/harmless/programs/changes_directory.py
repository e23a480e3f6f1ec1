"""Changes directory before it compiles, writes relative files, and ends in a directory that is gone."""

import os
from pathlib import Path

import torch

for name in ("one", "two"):
    os.mkdir(name)
    os.chdir(name)
    value = torch.compile(torch.cos)(torch.ones(len(name))).sum().item()
    Path("value.txt").write_text(f"{value}\n")
    print(sorted(path.name for path in Path().iterdir()))
os.mkdir("gone")
os.chdir("gone")
os.rmdir("../gone")
torch._dynamo.reset()
print(torch.compile(torch.sin)(torch.ones(2)).sum().item())
