"""Steps of SGD with a compiled model: `steps.py N [profile | end]`, with a profile of its own, or one more compile."""

import sys

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
compiled = torch.compile(model)
x = torch.randn(4, 8)


def steps(count: int) -> None:
    for _ in range(count):
        compiled(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


number = int(sys.argv[1])
steps(number)
if "profile" in sys.argv:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        steps(3)
    print(sum(event.name.startswith("Optimizer.step#") for event in profiler.events()), "steps in my profile")
print(sum(parameter.double().sum().item() for parameter in model.parameters()))
