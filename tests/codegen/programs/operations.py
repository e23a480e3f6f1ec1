"""Kernels of many forms, small enough to be run by Triton's interpreter: sizes are powers of two."""

import torch
import torch.nn.functional as F


def elementwise(x, y):
    return torch.sigmoid(x) * y + x.clamp(-1, 1), (x - y).abs().sqrt().log1p(), torch.where(x > y, x, y * x)


def broadcast(x, row):
    return F.gelu(x * 2 + row), torch.tanh(row) * 3


def rows(x):
    y = F.softmax(x, -1)
    return y, F.layer_norm(x + y, (x.shape[-1],)), y.sum(-1), x.amax(-1)


def whole(x):
    return x.mean(), (x * x).sum(), x.exp().max()


def long_rows(x):
    return F.softmax(x * 2, -1), x.var(-1)


def scanned(x):
    return F.silu(x).cumsum(-1), x.argmax(-1)


def mixed(x, mask):
    return torch.where(mask, x.exp(), 0.0).sum(-1), x.to(torch.bfloat16) * 2


def main():
    x, y = torch.randn(64, 128, device="cuda"), torch.randn(64, 128, device="cuda")
    torch.compile(elementwise)(x, y)
    torch.compile(broadcast)(x, y[0])
    torch.compile(rows)(x)
    torch.compile(whole)(x)
    torch.compile(long_rows)(torch.randn(4, 8192, device="cuda"))
    torch.compile(scanned)(x)
    torch.compile(mixed)(x, y > 0)


main()
