# after pytorch#180642: a change in place within the forward of an autograd.Function
import torch


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = x * 1.0
        out += x
        return out

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def step(x):
    return Doubled.apply(x) * 3


def inputs():
    return (torch.arange(6.0, requires_grad=True),)


if __name__ == "__main__":
    for run in (step, torch.compile(step)):
        given = inputs()
        out = run(*given)
        out.sum().backward()
        print(out.sum(), [one.grad.sum() for one in given if one.grad is not None])
