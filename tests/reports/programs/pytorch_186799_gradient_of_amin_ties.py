# after pytorch#186799: the gradient of amin of values that are computed twice
import torch


def step(x, y):
    return torch.atan2(x, y).amin(-1)


def inputs():
    torch.manual_seed(0)
    return torch.randn(4, 33, requires_grad=True), torch.randn(4, 33, requires_grad=True)


if __name__ == "__main__":
    for run in (step, torch.compile(step)):
        given = inputs()
        out = run(*given)
        out.sum().backward()
        print(out.sum(), [one.grad.sum() for one in given if one.grad is not None])
