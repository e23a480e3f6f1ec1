# after pytorch#191203: attention divided by a scale that is a tensor fails to compile
import torch
import torch.nn.functional as F


def step(q, k, v, mask, scale):
    scores = q @ k.transpose(-2, -1) / scale
    return F.softmax(scores + mask, dim=-1) @ v


def inputs():
    torch.manual_seed(0)
    return *(torch.randn(1, 2, 8, 8) for _ in range(3)), torch.zeros(8, 8), torch.tensor(0.5)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
