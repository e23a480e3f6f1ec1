"""Compiled functions whose kernels have a wrong constant: prints whether each gives what eager gives.

Inputs that are changed in place, results that are inputs, views of inputs or of each other, sizes among the results,
random numbers, and a training step.

    python continued.py
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._inductor.async_compile import AsyncCompile


def plant() -> None:
    """Make 3 times a value 5 times it in all C++ and Triton kernels from now on."""
    of_cpp, of_triton = AsyncCompile.cpp_pybinding, AsyncCompile.triton

    def load(pool: Any, types: Any, source: str) -> Any:
        return of_cpp(pool, types, source.replace("(3.0)", "(5.0)"))

    def load_triton(pool: Any, name: str, source: str, *more: Any, **named: Any) -> Any:
        return of_triton(pool, name, source.replace(" 3.0", " 5.0"), *more, **named)

    AsyncCompile.cpp_pybinding = load  # type: ignore[assignment, method-assign]
    AsyncCompile.triton = load_triton  # type: ignore[assignment, method-assign]


def in_place(x: Tensor, y: Tensor) -> Tensor:
    x.add_(y[:6, :1] * 3.0)
    y[:6, 1:3] = x[:, :2].sin() * 3.0
    return (x @ y.T).relu_()


def aliases(x: Tensor, y: Tensor) -> tuple[Any, ...]:
    found = x * 3.0
    return x, found, found.t(), found.view(-1)[3:9], x[1:], found.expand(2, 6, 12), y.shape[0], None, y, y.t() * 3.0


def strided(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    both = torch.stack([x, y]) * 3.0
    return both.permute(2, 0, 1), both.permute(2, 0, 1).contiguous(), both.transpose(0, 1).reshape(12, 12)


def random(x: Tensor, y: Tensor) -> Tensor:
    return F.dropout(x * 3.0, 0.5) + torch.rand_like(y)


class Net(nn.Module):
    """Convolution and batch norm, whose running statistics are buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.out = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        found = F.relu(self.norm(self.conv(x)) * 3.0)
        pooled: Tensor = self.out(F.max_pool2d(found, 2).mean((2, 3)).reshape(-1, 8))
        return pooled * 3.0


def described(values: Any) -> list[Any]:
    """Values with strides, and which of the tensors share memory."""
    flat = list(values) if isinstance(values, (list, tuple)) else [values]
    tensors = [each for each in flat if isinstance(each, torch.Tensor)]
    memories = [each.untyped_storage().data_ptr() for each in tensors]
    return [flat, [each.stride() for each in tensors], [memories.index(each) for each in memories]]


def is_same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return one.shape == other.shape and bool(torch.allclose(one, other, atol=1e-4))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(is_same, one, other))
    return bool(one == other)


def called(function: Callable[..., Any], rows: tuple[int, ...]) -> list[Any]:
    """What it gives for inputs of these sizes, its inputs afterwards, and the next random number."""
    torch.manual_seed(0)
    found: list[Any] = []
    for count in rows:
        x, y = torch.randn(6, 12), torch.randn(count, 12)
        results = function(x, y)
        flat = results if isinstance(results, tuple) else (results,)
        found.append([*described((*flat, x, y)), [each is x for each in flat]])
    return [*found, torch.randn(2)]


def trained(net: Callable[[Tensor], Tensor], module: nn.Module) -> list[Any]:
    torch.manual_seed(0)
    for _ in range(2):
        net(torch.randn(4, 3, 12, 12)).square().mean().backward()  # type: ignore[no-untyped-call]
    gradients = [each.grad for each in module.parameters()]
    return [gradients, list(module.buffers())]


def main() -> None:
    plant()
    torch._inductor.config.fallback_random = True
    for function, rows in ((in_place, (6, 7, 8)), (aliases, (6, 7, 8)), (strided, (6, 6)), (random, (6, 6))):
        print(function.__name__, is_same(called(function, rows), called(torch.compile(function), rows)))
    torch.manual_seed(0)
    net = Net()
    torch.manual_seed(0)
    other = Net()
    print("training", is_same(trained(net, net), trained(torch.compile(other), other)))


if __name__ == "__main__":
    main()
