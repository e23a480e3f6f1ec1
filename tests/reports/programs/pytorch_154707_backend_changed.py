# after pytorch#154707: the same function is compiled again for another backend
import torch


def doubled(x):
    return x * 2


torch.compile(doubled, backend="eager")(torch.ones(3))
torch.compile(doubled)(torch.ones(3))
