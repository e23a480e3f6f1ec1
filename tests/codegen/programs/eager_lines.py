"""Steps that run operators outside of compiled code; each line that does has a name."""

import sys

import torch

torch.manual_seed(0)
layers = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8))
run = torch.compile(layers)
weights = [p.detach() for p in layers.parameters()]
mean = [p.clone() for p in weights]


def average() -> None:
    for old, new in zip(mean, weights, strict=True):
        old.mul_(0.9).add_(new)  # loop


def step(x: torch.Tensor) -> float:
    y = run(x)
    z = y @ y.t()  # product
    z = z * 2  # scale
    average()
    return (z * y.sum()).mean().item()  # read


calls = []
sys.setprofile(lambda frame, event, _: calls.append(event) if frame.f_code.co_name == "average" else None)
with torch.no_grad():
    for _ in range(int(sys.argv[1])):
        value = step(torch.ones(8, 8))
print(f"{value:.6f}", calls.count("call"))
