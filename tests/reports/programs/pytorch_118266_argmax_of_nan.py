# after pytorch#118266: argmax meets a NaN
import torch


def step(x):
    return torch.argmax(torch.log1p(x)), torch.argmin(torch.log1p(x), -1)


def inputs():
    return (torch.tensor([[0.5, -3.0, 2.0], [7.0, 1.0, -9.0]]),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
