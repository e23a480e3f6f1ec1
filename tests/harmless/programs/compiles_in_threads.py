"""Threads that compile at the same time, forward and backward."""

import threading
from collections.abc import Callable

import torch

Function = Callable[[torch.Tensor], torch.Tensor]

FUNCTIONS: tuple[Function, ...] = (
    lambda x: x.sin() * 2,
    lambda x: x.cos() + 3,
    lambda x: x.exp() / 5,
    lambda x: x.sigmoid() - 7,
)
results: dict[int, tuple[float, float]] = {}
start = threading.Barrier(len(FUNCTIONS))


def work(number: int) -> None:
    x = torch.full((4,), 0.5, requires_grad=True)
    compiled = torch.compile(FUNCTIONS[number])
    start.wait()
    total = compiled(x).sum()
    total.backward()
    assert x.grad is not None
    results[number] = (total.item(), x.grad.sum().item())


threads = [threading.Thread(target=work, args=(number,)) for number in range(len(FUNCTIONS))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(results.items()))
