# after pytorch#191499: the smallest of 16 and more positive int8 and uint8
import torch


def step(x):
    return x.amin(), x.amax(), (-x).amax()


def inputs():
    x = torch.tensor([5, 1, 100, 3, 7, 8, 9, 13, 100, 120, 127, 2, 6, 4, 11, 12, 90, 80] * 4)
    return [(x.to(torch.int8),), (x.to(torch.uint8),)]


if __name__ == "__main__":
    compiled = torch.compile(step)
    for args in inputs():
        print(compiled(*args), step(*args))
