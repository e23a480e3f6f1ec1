# after pytorch#191308: a batched product of int8 comes back as int64
import torch


def step(a, b):
    return torch.matmul(a, b)


def inputs():
    return torch.full((1, 1, 2), 3, dtype=torch.int8), torch.full((1, 2, 2), 2, dtype=torch.int8)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
