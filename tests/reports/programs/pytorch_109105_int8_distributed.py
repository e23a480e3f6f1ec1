# after pytorch#109105: a product of int8 overflows before it is added up
import torch


def step(x, y):
    return (6 * (x + y)).to(torch.int32), (6 * x + 6 * y).to(torch.int32)


def inputs():
    return torch.tensor([5, 100, -90], dtype=torch.int8), torch.tensor([20, 30, -100], dtype=torch.int8)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
