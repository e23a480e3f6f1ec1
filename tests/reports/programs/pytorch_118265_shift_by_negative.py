# after pytorch#118265: shifts by random integers, many of them negative or too large
import torch


def step(x, by):
    return torch.bitwise_right_shift(x, by)


def inputs():
    torch.manual_seed(0)
    return torch.randint(-3000, 3000, (40,)), torch.randint(-80, 80, (40,))


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
