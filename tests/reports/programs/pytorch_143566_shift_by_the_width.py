# after pytorch#143566: a shift by the width of the integer
import torch


def step(x, by):
    return torch.bitwise_left_shift(x, by), torch.bitwise_right_shift(x, by)


def inputs():
    return torch.tensor([1000, -1000, 5]), torch.tensor([64, 64, 70])


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
