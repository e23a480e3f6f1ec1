# after pytorch#183604: an autograd.Function gets one tensor as two arguments
import torch


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b + a + b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad * (b + 1), grad * (a + 1)


def step(x):
    return Product.apply(x, x)


def inputs():
    return (torch.tensor([0.7, -1.3, 2.1], requires_grad=True),)


if __name__ == "__main__":
    for run in (step, torch.compile(step)):
        given = inputs()
        out = run(*given)
        out.sum().backward()
        print(out.sum(), [one.grad.sum() for one in given if one.grad is not None])
