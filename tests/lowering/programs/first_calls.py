"""Calls each compiled graph three times, and prints in each call the stack from within the generated code; an operator
fails in the first call of its graph; and what a compiled graph calls is the generated code's own function afterwards.
"""

import gc
import traceback
from pathlib import Path

import torch
from torch._inductor.output_code import CompiledFxGraph

failures = [ValueError("the first call")]


@torch.library.custom_op("first_calls::told", mutates_args=())
def told(x: torch.Tensor, may_fail: bool) -> torch.Tensor:
    stack = traceback.extract_stack()
    print(len(stack), [f"{Path(frame.filename).name}:{frame.name}" for frame in stack if frame.name != "call"][-6:])
    if may_fail and failures:
        raise failures.pop()
    return x.clone()


@told.register_fake
def _(x: torch.Tensor, may_fail: bool) -> torch.Tensor:
    return torch.empty_like(x)


@torch.compile
def watched(x: torch.Tensor) -> torch.Tensor:
    return told(x * 2, False) + 1


@torch.compile
def failing(x: torch.Tensor) -> torch.Tensor:
    return told(x.sin(), True) * 3


@torch.compile
def trained(x: torch.Tensor) -> torch.Tensor:
    return (x * x).sum()


for _ in range(3):
    watched(torch.ones(4))
    x = torch.ones(4, requires_grad=True)
    trained(x).backward()
    try:
        print(failing(torch.ones(4)))
    except ValueError as error:
        print([frame.name for frame in traceback.extract_tb(error.__traceback__)])

graphs = [thing for thing in gc.get_objects() if type(thing) is CompiledFxGraph]
print(len(graphs), {type(one.current_callable).__name__ for one in graphs})
