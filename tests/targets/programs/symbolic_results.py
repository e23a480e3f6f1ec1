"""A graph whose sizes are symbols gives its result to another graph, compiled for the first time."""

import sys

import torch


@torch.compile
def first(x):
    return x * 2 + 1


@torch.compile
def second(x):
    return x.sin()


first(torch.ones(4, 3, device=sys.argv[1]))
print(second(first(torch.ones(8, 3, device=sys.argv[1]))).sum())
