"""A training step that calls as many hooks as a CPU can: a break, a recompile, reductions, a product, a fusion."""

import torch

net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.LayerNorm(16), torch.nn.GELU())
with torch.no_grad():
    for number, parameter in enumerate(net.parameters()):
        parameter.copy_(torch.linspace(-1, 1, parameter.numel()).reshape(parameter.shape) + number)


@torch.compile
def loss_of(x: torch.Tensor) -> torch.Tensor:
    y = torch.softmax(net(x), -1)
    torch._dynamo.graph_break()
    return (y * x.sum(-1, keepdim=True)).square().mean()


for rows in (2, 3):
    loss = loss_of(torch.linspace(0, 1, rows * 8).reshape(rows, 8))
    loss.backward()
    print(loss.item(), [parameter.grad is not None and parameter.grad.sum().item() for parameter in net.parameters()])
