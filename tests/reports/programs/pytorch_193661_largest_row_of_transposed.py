# after pytorch#193661: argmax of the sums of a transposed tensor
import torch


def step(x):
    return x.sum(-1).argmax()


def inputs():
    torch.manual_seed(3)
    return (torch.randn(7, 6, 3).transpose(0, 1),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
