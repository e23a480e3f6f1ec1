# after pytorch#190717: with a small memory budget the backward draws another dropout mask
import torch
import torch._functorch.config
import torch.nn.functional as F

torch._functorch.config.activation_memory_budget = 0.0


def step(x):
    out = F.dropout(x.sin().sin(), 0.5)
    (slope,) = torch.autograd.grad(out.sum(), x)
    return ((out != 0) == (slope != 0)).all()


def inputs():
    torch.manual_seed(0)
    return (torch.randn(64, 64, requires_grad=True),)


if __name__ == "__main__":
    (x,) = inputs()
    compiled = torch.compile(lambda x: F.dropout(x.sin().sin(), 0.5))
    out = compiled(x)
    out.sum().backward()
    print(((out != 0) == (x.grad != 0)).all())
