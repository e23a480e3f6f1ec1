# after pytorch#174891: a complex column is added to a complex matrix
import torch


def step(x):
    return x + torch.ones(2, 1, dtype=torch.complex64)


def inputs():
    return (torch.full((2, 2), 1.0, dtype=torch.complex64),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
