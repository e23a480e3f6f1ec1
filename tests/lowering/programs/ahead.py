"""Exports a module, and makes and loads a package of it: `ahead.py PACKAGE [load]`, which only loads it."""

import sys

import torch
from torch import nn

PACKAGE = sys.argv[1]


def main() -> None:
    x = torch.linspace(0, 1, 64).reshape(8, 8)
    if sys.argv[2:] != ["load"]:
        exported = torch.export.export(nn.Sequential(nn.Linear(8, 8), nn.GELU()).eval(), (x,))
        torch._inductor.aoti_compile_and_package(exported, package_path=PACKAGE)
    model = torch._inductor.aoti_load_package(PACKAGE)
    print(tuple(model(x).shape))


main()
