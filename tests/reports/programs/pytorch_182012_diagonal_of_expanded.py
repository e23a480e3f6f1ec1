# after pytorch#182012: the gradient of diagonal_scatter meets an expanded gradient
import torch


def step(x, diagonal):
    return torch.diagonal_scatter(x, diagonal).sum()


def inputs():
    torch.manual_seed(0)
    return torch.rand(6, 6, requires_grad=True), torch.rand(6, requires_grad=True)


if __name__ == "__main__":
    for run in (step, torch.compile(step)):
        given = inputs()
        out = run(*given)
        out.sum().backward()
        print(out.sum(), [one.grad.sum() for one in given if one.grad is not None])
