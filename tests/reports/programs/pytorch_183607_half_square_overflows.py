# after pytorch#183607: the square of a half overflows in eager; the compiled code keeps it in fp32
import torch


def step(x):
    small = x.to(torch.float16)
    return (small * small).to(torch.float32)


def inputs():
    return (torch.tensor([5000.0, 3.0, 300.0]),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
