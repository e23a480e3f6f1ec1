# after pytorch#183369: the layer norm of a jagged nested tensor that is made inside
import torch
import torch.nn.functional as F


def step(values, offsets):
    nested = torch.nested.nested_tensor_from_jagged(values, offsets)
    return F.layer_norm(nested, [12]).values().sum()


def inputs():
    torch.manual_seed(0)
    return torch.randn(20, 12, requires_grad=True), torch.tensor([0, 6, 11, 14, 20])


if __name__ == "__main__":
    for run in (step, torch.compile(step)):
        given = inputs()
        out = run(*given)
        out.sum().backward()
        print(out.sum(), [one.grad.sum() for one in given if one.grad is not None])
