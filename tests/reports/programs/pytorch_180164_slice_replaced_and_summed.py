# after pytorch#180164: the gradient of a sum over a tensor a slice of which is replaced
import torch


def step(x, y):
    return torch.slice_scatter(x, y, dim=1, start=1, end=4).sum(1)


def inputs():
    torch.manual_seed(0)
    return torch.randn(3, 7, 9, requires_grad=True), torch.randn(3, 3, 9, requires_grad=True)


if __name__ == "__main__":
    for run in (step, torch.compile(step)):
        given = inputs()
        out = run(*given)
        out.sum().backward()
        print(out.sum(), [one.grad.sum() for one in given if one.grad is not None])
