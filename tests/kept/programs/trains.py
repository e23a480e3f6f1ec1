"""A training step, a function that is compiled again for other sizes, and a graph break."""

import torch


@torch.compile
def normalized(x: torch.Tensor) -> torch.Tensor:
    y = x.exp()
    torch._dynamo.graph_break()
    return y / y.sum(-1, keepdim=True)


@torch.compile
def loss_of(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    hidden = (x @ weight).relu()
    return normalized(hidden).square().sum()


weight = torch.linspace(-1, 1, 64).reshape(8, 8).requires_grad_()
for rows in (4, 4, 6):
    loss = loss_of(torch.ones(rows, 8), weight)
    loss.backward()  # type: ignore[no-untyped-call]
    print(round(loss.item(), 6))
assert weight.grad is not None
print(round(weight.grad.sum().item(), 4))
