"""Once torch is imported, with its compiler, a warning is an error."""

import warnings

import torch
import torch._inductor.compile_fx

net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 2))
with torch.no_grad():
    for parameter in net.parameters():
        parameter.fill_(0.25)
with warnings.catch_warnings():
    warnings.simplefilter("error")
    loss = torch.compile(net)(torch.ones(2, 4)).square().mean()
    loss.backward()
    torch.compile(net)(torch.ones(3, 4))
    print(loss.item(), [entry[0] for entry in warnings.filters][:1])
