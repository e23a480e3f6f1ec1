"""A mode of torch.compile, the argument: reduce-overhead, max-autotune …; inference and a training step."""

import sys

import torch

net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
with torch.no_grad():
    for parameter in net.parameters():
        parameter.fill_(0.125)
compiled = torch.compile(net, mode=sys.argv[1])
with torch.no_grad():
    print(compiled(torch.ones(4, 16)).sum().item())
compiled(torch.ones(4, 16)).square().mean().backward()
print([parameter.grad is not None and parameter.grad.sum().item() for parameter in net.parameters()])
