"""Torch is reset between compiles: ids occur again, a backward is compiled after the reset behind its forward, and two
threads compile at once. Prints how often torch compiled each function."""

import threading

import torch
from torch._dynamo.testing import CompileCounter


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x.sin() * 2


def tripled(x: torch.Tensor) -> torch.Tensor:
    return x.cos() * x.exp() * 3


first = torch.compile(doubled)(torch.ones(4, requires_grad=True))
torch._dynamo.reset()
second = torch.compile(tripled, dynamic=False)
second(torch.ones(4))
second(torch.ones(5))
first.sum().backward()  # on autograd's thread, for a compile of the count before

torch._dynamo.reset()
torch._dynamo.reset()
start = threading.Barrier(2)


def compiles(function: object) -> None:
    start.wait()
    torch.compile(function)(torch.ones(6, requires_grad=True)).sum().backward()


threads = [threading.Thread(target=compiles, args=(function,)) for function in (doubled, tripled)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

torch._dynamo.reset()
counter = CompileCounter()
torch.compile(doubled, backend=counter)(torch.ones(7))
assert counter.frame_count == 1
