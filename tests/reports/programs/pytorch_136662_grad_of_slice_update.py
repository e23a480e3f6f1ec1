# after pytorch#136662: torch.func.grad of an in-place update of a slice, inside the compiled function
import torch


def step(x):
    def total(x):
        y = torch.zeros_like(x)
        y[:, 0] += x[:, 2].abs()
        return y.sum()

    return torch.func.grad(total)(x)


def inputs():
    torch.manual_seed(0)
    return (torch.randn(2, 3),)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
