"""Floats that differ from call to call, which Dynamo makes symbols of: each comes to its graph as a tensor on the CPU."""

import sys

import torch


@torch.compile
def scaled(x, by):
    return (x * by).sin() / by


@torch.compile
def dropped(x, share):
    keep = 1 - share
    mask = torch.rand((x.shape[0], 1), device=x.device).add(keep).floor_()
    return x.div(keep) * mask


for number in (0.5, 0.25, 0.125):
    x = torch.ones(4, 3, device=sys.argv[1])
    print(scaled(x, number).sum(), dropped(x.requires_grad_(), number).shape)
