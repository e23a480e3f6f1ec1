"""Small compiled functions whose buffers are views, are reused, changed in place or filled in parts; and random ones."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def in_place(x: Tensor, y: Tensor) -> Tensor:
    x.add_(1.0)
    y[:, 1:3] = x[:5, :2].sin()
    return (x @ y.T).relu_()


def parts(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    both = torch.cat([x.exp(), y.cos(), x * y], dim=1)
    values, indices = both.sort(dim=1)
    return both.mean(0), values.softmax(-1), indices, both.argmax(1), both[:, 4:8]


def scattered(x: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
    found = torch.zeros(8, x.shape[1]).index_add(0, at, x.tanh())
    return torch.index_put(found, (at[:2],), x[:2] * 2.0), x.cumsum(0) + at.cumsum(0)[:, None]


def half(x: Tensor, weight: Tensor) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return F.gelu(x @ weight).float().log_softmax(-1)


def accumulated(x: Tensor, weights: list[Tensor]) -> list[Tensor]:
    """One kernel launched several times, each time in the memory that its last launch wrote."""
    found, products = x.cos(), []
    for weight in weights:
        products.append(found @ weight)
        found = found + products[-1].sin()
    return [found * 2, *products]


def within(x: Tensor, at: Tensor) -> Tensor:
    """Buffers that one kernel writes and reads: the parts of a concatenation, and a truth value whose memory the next
    one gets, which is never written.
    """
    turned = torch.cat([-x[:, 2:], x[:, :2]], 1)
    return turned * x + F.one_hot(at, 4).sum(0)


def finished(x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """The last part of a concatenation is written by the kernel that reads the whole; the first by one before."""
    whole = torch.cat([x.cos(), torch.tanh(x.sin() @ weight)], 1)
    return whole, whole.flip(1) @ whole.t()


def listed(sums: list[Tensor], steps: list[Tensor]) -> None:
    """What an optimizer does: lists of tensors are changed in place, the first of them by one operator for the list."""
    torch._foreach_add_(steps, 1)
    torch._foreach_mul_(sums, [1 - 0.9**step for step in steps])
    torch._foreach_sqrt_(sums)


class Net(nn.Module):
    """Convolution, batch norm and dropout, trained."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.out = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        found = F.dropout(F.relu(self.norm(self.conv(x))), 0.3)
        pooled: Tensor = self.out(F.max_pool2d(found, 2).mean((2, 3)))
        return pooled


def main() -> None:
    torch.manual_seed(0)
    x, y = torch.randn(6, 12), torch.randn(5, 12)
    print(torch.compile(in_place)(x, y).sum().item(), x.sum().item(), y.sum().item())
    print([found.float().sum().item() for found in torch.compile(parts)(torch.randn(6, 8), torch.randn(6, 8))])
    at = torch.tensor([1, 5, 1, 7, 0, 5])
    print([found.sum().item() for found in torch.compile(scattered)(torch.randn(6, 4), at)])
    print(torch.compile(half)(torch.randn(16, 32), torch.randn(32, 24)).sum().item())
    weights = [torch.randn(8, 8) for _ in range(5)]
    print([found.sum().item() for found in torch.compile(accumulated)(torch.randn(8, 8), weights)])
    print(torch.compile(within)(torch.randn(6, 4), torch.tensor([1, 3, 0, 3, 2, 2])).sum().item())
    print([found.sum().item() for found in torch.compile(finished)(torch.randn(6, 4), torch.randn(4, 4))])
    sums, steps = [torch.rand(3), torch.rand(4)], [torch.tensor(1.0), torch.tensor(2.0)]
    torch.compile(listed)(sums, steps)
    print([one.sum().item() for one in (*sums, *steps)])
    net = Net()
    compiled = torch.compile(net)
    for _ in range(2):
        compiled(torch.randn(4, 3, 12, 12)).square().sum().backward()
    print([each.grad.sum().item() for each in net.parameters() if each.grad is not None])
    print(torch.randn(2).tolist())


if __name__ == "__main__":
    main()
