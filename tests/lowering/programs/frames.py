"""Graph breaks, frames inside of frames, recompiles for many reasons, a limit, skipped frames; prints torch's account.

With `explain` as an argument torch first explains two of the functions, and forgets them: not to be recorded.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch._dynamo

SCALE = 2.0


class Scaled(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.times = 2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.times


class Untellable:
    """Whoever shows one runs code of the program's."""

    def __repr__(self) -> str:
        raise AssertionError("asked for its repr")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")

    __hash__ = object.__hash__


def broken(x: torch.Tensor) -> torch.Tensor:
    y = torch.relu(x) * 2
    print("a graph break", file=sys.stderr)
    total = y.sum().item()
    return y / 2 if total > 1 else y + 1


def whole(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + x.cos()


@torch.compile(backend="eager", dynamic=False)
def changing(x: torch.Tensor, n: int, options: dict[str, float]) -> torch.Tensor:
    return x * n * options["by"] + SCALE


@torch.compile(backend="eager", dynamic=False)
def two(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a + b


@torch.compile(backend="eager", dynamic=False)
def calls(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, holder: object) -> torch.Tensor:
    return function(x) if isinstance(holder, Untellable) else x


@torch.compile(backend="eager", dynamic=True)
def sized(x: torch.Tensor) -> torch.Tensor:
    return x.sum() if x.shape[0] > 5 else x * 2


@torch.compile(backend="eager", dynamic=False)
def limited(x: torch.Tensor, n: int) -> torch.Tensor:
    return x + n


@torch.compile(backend="eager")
def nothing(text: str) -> int:
    return len(text)


@torch.library.custom_op("inspected::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.compile
def foreign(x: torch.Tensor) -> torch.Tensor:
    return twice(x)


def times(k: int) -> Callable[[torch.Tensor], torch.Tensor]:
    def inner(x: torch.Tensor) -> torch.Tensor:
        return x * k

    return inner


def main() -> None:
    global SCALE
    x = torch.ones(8, 4)
    torch.compile(broken, backend="eager")(x)
    torch.compile(whole, backend="eager")(x)

    options = {"by": 1.5}
    changing(x, 1, options)
    changing(torch.ones(9, 4), 1, options)
    changing(x.double(), 1, options)
    changing(x, 3, options)
    changing(x, 1, {"by": 2.5})
    changing(torch.ones(8, 4, requires_grad=True), 1, options)
    SCALE = 3.0
    changing(x, 1, options)

    module = torch.compile(Scaled(), backend="eager")
    module(x)
    module.times = 3
    module(x)

    two(x, torch.ones(8, 4))
    two(x, x)
    with torch.no_grad():
        two(x, torch.ones(8, 4))

    calls(times(1), x, Untellable())
    calls(times(2), x, Untellable())

    sized(torch.ones(7))
    sized(torch.ones(3))

    with torch._dynamo.config.patch(recompile_limit=2):
        for n in range(4):
            limited(x, n)
    nothing("text")
    foreign(x)


def explained(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> dict[str, object]:
    found = torch._dynamo.explain(function)(x)
    torch._dynamo.reset()
    return {
        "graphs": found.graph_count,
        "breaks": found.graph_break_count,
        "reasons": [reason.reason for reason in found.break_reasons],
        "operations": found.op_count,
        "guards": [[guard.create_fn_name(), name_of(guard)] for guard in found.out_guards or ()],
    }


def name_of(guard: Any) -> str:
    """Up to torch 2.11 a method."""
    return guard.name() if callable(guard.name) else guard.name  # type: ignore[no-any-return]


if __name__ == "__main__":
    if sys.argv[1:] == ["explain"]:
        print(json.dumps({function.__name__: explained(function, torch.ones(8, 4)) for function in (broken, whole)}))
        print("explained", file=sys.stderr)
    main()
