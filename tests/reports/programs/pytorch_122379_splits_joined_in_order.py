# after pytorch#122379: pieces of a split, a part of them joined again
import torch


def step(x):
    pieces = torch.split(x, 1, 0)
    return torch.cat([pieces[at] for at in range(10)], 0), torch.cat([pieces[at] for at in (1, 0, 2)], 0)


def inputs():
    return (torch.arange(30.0).view(10, 3),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
