# after pytorch#196570: a mask that is written in place before a softmax fails to compile
import torch


def step(x):
    mask = torch.full((8, 8), -10000.0)
    mask[torch.arange(8).unsqueeze(0), torch.arange(8).unsqueeze(1)] = 0
    return torch.softmax(x + mask, -1)


def inputs():
    torch.manual_seed(0)
    return (torch.randn(8, 8),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
