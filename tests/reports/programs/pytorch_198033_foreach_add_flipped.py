# after pytorch#198033: an in-place foreach addition reads the same tensor reversed
import torch


def step(x):
    torch._foreach_add_([x], [x.flip(0)])
    return x


def inputs():
    torch.manual_seed(0)
    return (torch.rand(8, 8),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
