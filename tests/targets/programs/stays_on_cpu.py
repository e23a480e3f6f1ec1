"""A program for a GPU that leaves a constant on the CPU, brings another one there, and writes a number into a tensor."""

import torch


def function(x):
    x = x * torch.tensor(1.5) + torch.tensor([2.0, 3.0], device="cuda")
    y = x.clone()
    y[0] = 0.5
    return x, y, torch.rand(3)


print(torch.compile(function)(torch.ones(4, 2, device="cuda"))[0].sum())
