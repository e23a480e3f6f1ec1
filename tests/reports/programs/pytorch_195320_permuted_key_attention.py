# after pytorch#195320: a key permuted straight into place is taken for a transposed one
import torch


def step(x, weight):
    batch, length, width = x.shape
    q, k, v = (x @ weight).view(batch, length, 3, 4, width // 4).unbind(2)
    q, v = q.permute(0, 2, 1, 3), v.permute(0, 2, 1, 3)
    k = k.permute(0, 2, 3, 1)
    return (torch.matmul(q, k) * 0.25).softmax(-1).matmul(v)


def inputs():
    torch.manual_seed(0)
    return torch.randn(2, 4, 16), torch.randn(16, 48)


if __name__ == "__main__":
    print(step(*inputs()))
    print(torch.compile(step)(*inputs()))
