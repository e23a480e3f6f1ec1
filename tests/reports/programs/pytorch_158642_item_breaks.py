# after pytorch#158642: item() ends the graph
import torch


@torch.compile
def limited(x, most):
    y = x * 2
    if y.max().item() > most:
        y = y / 2
    return y + 1


limited(torch.arange(6.0), 4.0)
