# after pytorch#126848: a product that is a denormal number
import torch


def step(x):
    return x * 2.0 ** (-124 - 3)


def inputs():
    return (torch.tensor([0.1875, 0.5, 3.0]),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
