# after pytorch#193492: argmax of averages of a transposed tensor
import torch
import torch.nn.functional as F


def step(x):
    return F.adaptive_avg_pool1d(x, 2).argmax()


def inputs():
    torch.manual_seed(2)
    return (torch.randn(5, 3, 4).transpose(0, 1),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
