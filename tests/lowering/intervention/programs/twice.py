"""Compiled functions that change what is there: arguments, buffers, gradients, parameters; prints it all."""

import torch
from torch import Tensor, nn


@torch.compile
def inner(x: Tensor) -> Tensor:
    """Is compiled itself, and called by what is compiled."""
    return x.sin() + 1


class Counted(nn.Module):
    """Has a graph break, a buffer, and results in containers."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Tensor
        self.linear = nn.Linear(8, 8)
        self.register_buffer("calls", torch.zeros(8))

    def forward(self, x: Tensor) -> dict[str, Tensor | list[Tensor]]:
        self.calls.add_(1)
        y = self.linear(x)
        torch._dynamo.graph_break()
        y = inner(y)
        return {"y": y, "more": [y.relu(), x[0]]}


@torch.compile
def in_place(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns views of what it changes."""
    x.mul_(2)
    z = x.view(-1)
    return z, z[1:], y + z.sum()


@torch.compile
def with_history(x: Tensor) -> Tensor:
    """Changes a value that autograd knows."""
    x.add_(1)
    return x * 2


@torch.compile
def refused(x: Tensor) -> Tensor:
    """Raises."""
    if x.shape[0] > 2:
        raise ValueError("three")
    return x + 1


@torch.compile
def dropped(x: Tensor) -> Tensor:
    """Draws random numbers."""
    return nn.functional.dropout(x, 0.5) * 2


def main() -> None:
    torch.manual_seed(0)
    module = Counted()
    compiled = torch.compile(module)
    for _ in range(2):
        compiled(torch.randn(4, 8))["y"].sum().backward()
    assert module.linear.weight.grad is not None
    print(module.calls.tolist(), float(module.linear.weight.grad.sum()))

    x = torch.ones(3, 3)
    found = in_place(x, torch.ones(2))
    print(found[2].tolist(), x.tolist(), x._version, found[0].data_ptr() == x.data_ptr())

    weight = torch.ones(3, requires_grad=True)
    hidden = weight * 1
    with_history(hidden).sum().backward()  # type: ignore[no-untyped-call]
    assert weight.grad is not None
    print(weight.grad.tolist())

    try:
        refused(torch.ones(3))
    except ValueError as error:
        print(error)

    linear = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(linear.parameters(), 0.1)

    @torch.compile
    def step(x: Tensor) -> Tensor:
        loss: Tensor = linear(x).square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    print([round(float(step(torch.ones(2, 4))), 4) for _ in range(3)])
    print(dropped(torch.ones(4)).tolist(), torch.rand(1).tolist())


main()
