"""A step of training under torch.profiler; prints what each call of compiled code did on the CPU, a JSON list a call."""

import json

import torch
from torch.profiler import ProfilerActivity, profile


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(32, 64), torch.nn.Linear(64, 32)
        self.norm = torch.nn.LayerNorm(64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.norm(self.first(x).relu())
        rows = torch.bmm(hidden.view(4, 4, 64), hidden.view(4, 4, 64).transpose(1, 2)).softmax(-1)
        out, _ = self.second(hidden).sort(-1)
        return out.sin().sum() + rows.sum()


torch.manual_seed(0)
# Torch's own switch: each C++ kernel tells the profiler of itself.
step = torch.compile(Net(), options={"cpp.enable_kernel_profile": True})
x = torch.randn(16, 32)
step(x).backward()
with profile(activities=[ProfilerActivity.CPU]) as profiled:
    step(x).backward()
calls: dict[int, list[str]] = {}
for event in sorted(profiled.events(), key=lambda event: event.time_range.start):
    if event.name.startswith("## Call CompiledFxGraph"):
        calls[event.id] = []
    elif event.cpu_parent is not None and event.cpu_parent.id in calls:
        calls[event.cpu_parent.id].append(event.name)
for names in calls.values():
    print(json.dumps(names))
