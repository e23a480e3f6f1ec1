"""Writes the Dynamo graph of a small model into a file: python pack.py GRAPH."""

import sys

import torch
from torch._inductor import compile_fx

from inspect_compile.lowering.shadow import parcel


def small(x, w):
    rows = torch.nn.functional.layer_norm(x.relu() @ w, (64,))
    return rows.softmax(-1), (rows + 1).sum(0)


def packing(module, inputs, *arguments, config_patches=None, **named):
    with open(sys.argv[1], "wb") as file:
        file.write(parcel.packed(module, list(inputs), {"inductor": config_patches or {}, "functorch": {}}, "0/0"))
    return module.forward


compile_fx.compile_fx = packing
torch.compile(small)(torch.randn(512, 64), torch.randn(64, 64))
