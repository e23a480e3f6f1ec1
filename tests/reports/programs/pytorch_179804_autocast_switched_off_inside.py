# after pytorch#179804: an inner autocast(enabled=False) is forgotten in the backward
import torch


def step(h, weight):
    with torch.amp.autocast("cpu", dtype=torch.bfloat16), torch.amp.autocast("cpu", enabled=False):
        return h.float() @ weight.float().T


def inputs():
    torch.manual_seed(0)
    return torch.randn(4, 64, dtype=torch.bfloat16), torch.randn(64, 64, requires_grad=True)


if __name__ == "__main__":
    for run in (step, torch.compile(step)):
        given = inputs()
        out = run(*given)
        out.sum().backward()
        print(out.sum(), [one.grad.sum() for one in given if one.grad is not None])
