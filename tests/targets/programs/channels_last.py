"""A convolution that a GPU lays out with its channels last, and saves so for the backward."""

import torch

net = torch.nn.Sequential(torch.nn.Conv2d(8, 128, 3), torch.nn.GELU(), torch.nn.Conv2d(128, 128, 3)).cuda()
torch.compile(net)(torch.randn(2, 8, 8, 8, device="cuda")).square().mean().backward()
