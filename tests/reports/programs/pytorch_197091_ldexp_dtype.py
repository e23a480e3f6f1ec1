# after pytorch#197091: ldexp of half and float32 comes back as half
import torch


def step(mantissa, exponent):
    return torch.ldexp(mantissa, exponent)


def inputs():
    return torch.tensor([0.5, 0.75, -0.5]).half(), torch.tensor([1.0, 2.0, 10.5])


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
