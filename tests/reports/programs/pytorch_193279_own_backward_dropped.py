# after pytorch#193279: torch.func.grad drops the backward of an autograd.Function
import torch


class Clipped(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        (output,) = ctx.saved_tensors
        return grad * output.clamp(max=1)


def step(x):
    return torch.func.grad(lambda x: Clipped.apply(x).sum())(x)


def inputs():
    return (torch.tensor([-1.0, 0.5, 2.0]),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
