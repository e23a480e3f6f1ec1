# after pytorch#175966: an int64 range times a large int64: past 32 bits
import torch


def step(x):
    return torch.arange(11, dtype=torch.int64) * torch.tensor([10**9]) + x


def inputs():
    return (torch.zeros(1, dtype=torch.int64),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
