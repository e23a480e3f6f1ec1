"""A training step that is checked in its second call, without Python's collector of cycles: prints how many tensors of
the size of its values the call leaves behind.
"""

import gc

import torch

SIZE = (61, 67)
x, weight = torch.randn(SIZE), torch.randn(67, 67, requires_grad=True)


@torch.compile
def step(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return ((x @ weight).sin().exp().softmax(1) @ weight).tanh()


def call() -> None:
    step(x, weight).sum().backward()  # type: ignore[no-untyped-call]
    weight.grad = None


def alive() -> int:
    return sum(type(one) is torch.Tensor and one.shape == SIZE for one in gc.get_objects())


call()
gc.collect()
gc.disable()
before = alive()
call()
print(alive() - before)
