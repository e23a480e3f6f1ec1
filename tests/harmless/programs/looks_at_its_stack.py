"""Looks at its own stack wherever its code runs: beside a compile, in a part that is not compiled, in a kernel."""

import inspect
import sys
import traceback

import torch


def told(place: str) -> None:
    frames = inspect.stack()[1:]
    print(place, [f"{frame.function}:{frame.lineno}" for frame in frames if "torch" not in frame.filename], len(frames))


@torch.library.custom_op("harmless::told", mutates_args=())
def told_op(x: torch.Tensor) -> torch.Tensor:
    told("in a custom operator, called from generated code")
    return x.clone()


@told_op.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.compiler.disable
def apart(x: torch.Tensor) -> torch.Tensor:
    told("in a part that is not compiled")
    return x


@torch.compile
def compiled(x: torch.Tensor) -> torch.Tensor:
    return told_op(apart(x.sin()) * 2) + 1


def main() -> None:
    told("in the script")
    x = torch.ones(3, requires_grad=True)
    for _ in range(2):
        compiled(x.detach())
    y = torch.compile(lambda x: x.sin())(x).sum()
    x.register_hook(lambda gradient: told("in a hook of autograd"))
    y.backward()
    told("in the script again")
    print(len(traceback.extract_stack()), sys._getframe().f_code.co_name, sys.gettrace(), sys.getprofile())


main()
