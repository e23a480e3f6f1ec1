"""Forward and backward of two layers and a loss; the gradient of the loss is at hand, so that nothing runs eagerly."""

import torch
from profiled import profiled


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(256, 512)
        self.norm = torch.nn.LayerNorm(512)
        self.down = torch.nn.Linear(512, 10)

    def forward(self, x, target):
        h = self.norm(torch.nn.functional.gelu(self.up(x)))
        return torch.nn.functional.cross_entropy(self.down(h), target)


net = Net().cuda()
compiled = torch.compile(net)
x, target = torch.randn(128, 256, device="cuda"), torch.randint(10, (128,), device="cuda")
one = torch.ones((), device="cuda")


def step():
    net.zero_grad(set_to_none=True)
    compiled(x, target).backward(one)


profiled(step)
