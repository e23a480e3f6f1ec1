# after pytorch#183986: rows are added to an expanded tensor
import torch


def step(index, rows):
    return torch.zeros(1, 4).expand(3, -1).index_add(0, index, rows)


def inputs():
    return torch.tensor([2, 1, 2]), torch.ones(3, 4)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
