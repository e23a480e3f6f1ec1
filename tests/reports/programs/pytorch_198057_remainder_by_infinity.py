# after pytorch#198057: the vectorized remainder is NaN for an infinite divisor
import torch


def step(value, period):
    return torch.remainder(value, period)


def inputs():
    value = torch.linspace(-4.0, 4.0, 16)
    period = torch.full((16,), 3.0)
    period[::3] = float("inf")
    return value, period


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
