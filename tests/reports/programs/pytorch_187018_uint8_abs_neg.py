# after pytorch#187018: the negative of a uint8 is computed as an int when it is added up
import torch


def step(x):
    minus = -x.abs()
    return torch.cat([minus, minus]).sum()


def inputs():
    return (torch.tensor([200, 100, 50], dtype=torch.uint8),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
