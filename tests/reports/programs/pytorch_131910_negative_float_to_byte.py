# after pytorch#131910: byte() of many negative floats, in the vectorized loop
import torch


def step(x):
    return (x * 10).byte()


def inputs():
    return (torch.linspace(-12.0, 12.0, 40),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
