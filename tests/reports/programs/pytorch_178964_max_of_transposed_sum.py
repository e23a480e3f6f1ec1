# after pytorch#178964: the indices of a maximum of a transposed tensor plus another one
import torch


def step(a, b):
    return (a + b).max(dim=1)


def inputs():
    torch.manual_seed(0)
    return torch.randn(8, 8).transpose(0, 1), torch.randn(8, 8)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
