# after pytorch#197089: the spread of 1e30 and of 1e-30 is computed in fp32
import torch


def step(x):
    return torch.std(x * 1e30), torch.std(x * 1e-30)


def inputs():
    torch.manual_seed(0)
    return (torch.randn(64),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
