# after pytorch#154652: the compile of a loop over time that is unrolled
import torch


@torch.compile
def recurrent(x, weight):
    hidden, seen = torch.zeros_like(x[0]), []
    for at in range(x.shape[0]):
        hidden = torch.tanh(x[at] + hidden * weight + hidden.flip(-1))
        seen.append(hidden)
    return torch.stack(seen)


recurrent(torch.randn(40, 8, 16), torch.randn(16))
