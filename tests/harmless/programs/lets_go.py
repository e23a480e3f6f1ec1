"""What the program lets go of is gone: parameters, inputs, the model, the tensors in an exception's frames."""

import gc
import weakref
from collections.abc import Callable

import torch


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = torch.nn.Linear(8, 16), torch.nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.down(torch.relu(self.up(x))), -1)


def gone(references: list[Callable[[], object]]) -> list[bool]:
    return [reference() is None for reference in references]


def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> None:
    raise RuntimeError("no backend")


net, x = Net(), torch.randn(2, 8)
references: list[Callable[[], object]] = [weakref.ref(thing) for thing in (*net.parameters(), x, net)]
compiled = torch.compile(net)
compiled(x).sum().backward()
try:
    torch.compile(net, backend=backend)(x[:1])
except RuntimeError as error:
    print(type(error).__name__)
del net, compiled, x
print(gone(references))
gc.collect()
print(gone(references))
torch._dynamo.reset()
gc.collect()
print(gone(references))
