# after pytorch#111133: index_add_ into a transposed view of the input
import torch


def step(x, rows, index):
    y = x.permute(1, 0)
    y.index_add_(0, index, rows)
    return y


def inputs():
    return torch.ones(3, 5), torch.arange(9.0).view(3, 3), torch.tensor([0, 4, 2])


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
