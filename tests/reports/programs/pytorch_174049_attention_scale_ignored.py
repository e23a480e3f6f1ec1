# after pytorch#174049: attention divided by a scale that is not the usual one
import torch


def step(q, k, v, mask):
    q, k, v = q.permute(0, 2, 1, 3), k.permute(0, 2, 1, 3), v.permute(0, 2, 1, 3)
    return (torch.matmul(q, k.transpose(-2, -1)).div(0.35) + mask).softmax(dim=-1).matmul(v).sum(-1)


def inputs():
    torch.manual_seed(0)
    return *(torch.randn(2, 8, 2, 16) for _ in range(3)), torch.randn(1, 1, 8, 8)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
