# after pytorch#149405: a Python float made a compile of its own even with dynamic=True; by now it does not
import torch


@torch.compile(dynamic=True)
def scaled(x, by):
    return x * by


for by in (1.5, 2.5, 3.5):
    scaled(torch.ones(4, 4), by)
