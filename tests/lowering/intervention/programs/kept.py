"""Compiles small programs with a mistake that torch itself plants, on request, in the code of `relu`.

Each has another form of memory around it: a sum, a buffer that is used again, a view, several results, symbolic sizes,
a matmul in its own kernel, bfloat16.

    python kept.py [PROGRAM …]
"""

import sys
from collections.abc import Callable

import torch
from torch import Tensor
from torch._inductor import config


def summed(x: Tensor, y: Tensor) -> Tensor:
    return torch.relu(x * y).sum(-1)


def in_place(x: Tensor, y: Tensor) -> Tensor:
    x.add_(1)
    x.relu_()
    return x @ y.mT


def viewed(x: Tensor, y: Tensor) -> Tensor:
    found = torch.relu(x[:, 2:10] - y[:, ::2][:, 2:10])
    return found.mT.contiguous() @ found


def several(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    a, b = (x @ y.mT).chunk(2, dim=-1)
    return torch.relu(a), b.softmax(-1), torch.cat([torch.relu(b), a.exp()])


def dropped(x: Tensor, y: Tensor) -> Tensor:
    return torch.nn.functional.dropout(torch.relu(x), 0.5) * y


def counted(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    found = torch.relu(x.to(torch.bfloat16) * y)
    return found.argmax(-1), (found > 0.5).sum(-1)


PROGRAMS: dict[str, Callable[..., object]] = {
    one.__name__: one for one in (summed, in_place, viewed, several, dropped, counted)
}


def main() -> None:
    config.cpp.inject_relu_bug_TESTING_ONLY = config.triton.inject_relu_bug_TESTING_ONLY = "accuracy"
    for name in sys.argv[1:] or PROGRAMS:
        torch.manual_seed(0)
        torch._dynamo.reset()
        x, y = torch.randn(16, 24), torch.randn(16, 24)
        with torch.no_grad():
            torch.compile(PROGRAMS[name], dynamic=name == "several")(x, y)
    print("done")


if __name__ == "__main__":
    main()
