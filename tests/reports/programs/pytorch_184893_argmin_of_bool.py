# after pytorch#184893: the index of the smallest bool
import torch


def step(x):
    return x.min(0), x.max(0)


def inputs():
    torch.manual_seed(0)
    return (torch.randint(2, (5, 32), dtype=torch.bool),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
