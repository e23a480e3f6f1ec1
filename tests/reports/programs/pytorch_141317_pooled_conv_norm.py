# after pytorch#141317: the mean of a batch-normalised convolution: rounding around zero
import torch

net = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 3, padding=2, dilation=2), torch.nn.BatchNorm2d(8), torch.nn.AdaptiveAvgPool2d(1)
)


def step(x):
    return net(x)


def inputs():
    torch.manual_seed(0)
    return (torch.randn(1, 3, 32, 32),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
