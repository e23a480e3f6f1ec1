# after pytorch#173793: the layer norm of numbers near the largest float32
import torch
import torch.nn.functional as F


def step(x):
    return F.layer_norm(x, (64,))


def inputs():
    torch.manual_seed(0)
    return (8.5e37 + torch.randn(2, 64) * 1e35,)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
