# after pytorch#190764: products of int32 matrices that overflow are added up
import torch


def step(x, y, z, p, q, r):
    return (x @ y + x @ z + p @ q + p @ r).sum(1)


def inputs():
    torch.manual_seed(0)
    return tuple(torch.randint(-(2**31), 2**31 - 1, (2, 2), dtype=torch.int32) for _ in range(6))


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
