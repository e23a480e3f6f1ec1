"""A convolution is saved for the backward with its channels last, and viewed there as if they came first."""

import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.Flatten(), torch.nn.GELU())
torch.compile(net)(torch.randn(2, 3, 4, 4)).square().mean().backward()
print(sum(parameter.grad.square().sum() for parameter in net.parameters()))
