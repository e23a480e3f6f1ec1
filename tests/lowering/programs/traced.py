"""An input that is written in place, a view that is returned, a tensor subclass, objects that are changed, a break, and a
failure.
"""

import torch
from torch.testing._internal.two_tensor import TwoTensor

SEEN = []
TOTAL = 0


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))
        self.calls = 0

    def forward(self, x: torch.Tensor, state: torch.Tensor, by: int) -> tuple[torch.Tensor, torch.Tensor]:
        global TOTAL
        self.calls += 1
        TOTAL += 1
        SEEN.append(by)
        state.add_(1)
        y = x * self.weight
        torch._dynamo.graph_break()
        if by > 2:
            y = y + by
        return y * 2, state.view(-1)


net = torch.compile(Net(), backend="aot_eager")
for by in (1, 2, 3):
    net(torch.ones(3, 4), torch.zeros(2, 2), by)[0].sum().backward()


@torch.compile(backend="aot_eager", fullgraph=True)
def fails(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    print(y)
    return y


try:
    fails(torch.ones(2))
except torch._dynamo.exc.Unsupported:
    print("failed")


@torch.compile(backend="aot_eager")
def halves(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y.mul_(2)
    return x * y, y.view(-1)


with torch.no_grad():
    halves(TwoTensor(torch.ones(4), torch.zeros(4)), TwoTensor(torch.ones(4), torch.ones(4)))
