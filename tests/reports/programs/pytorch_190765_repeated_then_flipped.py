# after pytorch#190765: elements are repeated and reversed, with sizes that are symbols
import torch

OPTIONS = {"dynamic": True}


def step(x):
    return (x * 2.0).flatten().repeat_interleave(2).flip(0)


def inputs():
    return (torch.arange(6.0).view(2, 3),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step, **OPTIONS)(*inputs()))
