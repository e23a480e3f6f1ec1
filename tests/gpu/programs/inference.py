"""A convolution, a matmul and a softmax, of cuDNN, cuBLAS and Triton."""

import torch
from profiled import profiled


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(10, 10, 3)
        self.linear = torch.nn.Linear(78, 64)

    def forward(self, x):
        y = self.conv(x).relu()
        z = torch.softmax(self.linear(y), -1)
        return z.sum(-1), (z * 2 + 1).mean()


net = torch.compile(Net().cuda().requires_grad_(False))
x = torch.randn(2, 10, 90, 80, device="cuda")
profiled(lambda: net(x))
