"""What the program is told of the GPU that is not here, and what it asked for that a CPU does not have."""

import sys
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Final

import torch

from inspect_compile.facts import Remark
from inspect_compile.knowledge.targets import TARGETS

GPU: Final = torch.device("cuda", 0)
CPU: Final = torch.device("cpu")

_ON_BEHALF: Final = "torch._dynamo.variables.torch"
"""Code of torch's that asks what the program would."""
_BETWEEN: Final = ("torch", "triton", "inspect_compile")
"""Packages whose frames may stand between the program's line and what it asked for."""


class Program:
    """The program of this process. `targets` are the GPUs; it is told of the first."""

    def __init__(self, targets: tuple[str, ...], *, fake_kernels: bool, tell: Callable[[Remark], None]) -> None:
        self.target = TARGETS[targets[0]]
        self.targets = targets
        self.fake_kernels = fake_kernels
        self.uses_gpu = False
        """Has it put anything on the GPU? From then on all its tensors say that they are there."""
        self.casts = False
        """Has it asked for autocast("cuda")?"""
        self._tell = tell
        self._told: set[tuple[str, str, str | None]] = set()

    def remark(self, code: str, message: str, where: str | None = None) -> None:
        """Tell each thing once for each line; the line is that of the program's that runs now."""
        where = where or line(sys._getframe(1))
        if (code, message, where) not in self._told:
            self._told.add((code, message, where))
            self._tell(Remark(kind="missed", code=code, message=message, where=where))

    def unmapped(self, what: str, instead: str) -> None:
        """It asked for `what`."""
        self.remark("target-cuda", f"{what} can't be mapped to the CPU: {instead}")

    def ended(self, error: BaseException | None) -> None:
        """It ended with `error`: perhaps of an operator that only a GPU has."""
        text = str(error) if isinstance(error, NotImplementedError) else ""
        if error is not None and text.startswith("Could not run '") and "'CPU' backend" in text:
            operator = text.removeprefix("Could not run '").partition("'")[0]
            message = f"{operator} can't be mapped to the CPU: it has no kernel there, and the program ended with that"
            self.remark("target-cuda", message, _line_of(error.__traceback__))


def is_torch(frame: FrameType) -> bool:
    """Does torch ask for itself? It is told that there is no GPU."""
    name = str(frame.f_globals.get("__name__", ""))
    return name.partition(".")[0] == "torch" and name != _ON_BEHALF


def line(frame: FrameType | None) -> str | None:
    """The innermost line of the program's: `file.py:12`."""
    while frame is not None:
        if _is_of_program(frame):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return None


def on_gpu(value: Any) -> bool:
    """Is it a CUDA device, in whichever way it is written?"""
    if isinstance(value, torch.device):
        return value.type == GPU.type
    return isinstance(value, str) and value.partition(":")[0] == GPU.type


def _is_of_program(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] not in _BETWEEN and not frame.f_code.co_filename.startswith("<")


def _line_of(traceback: TracebackType | None) -> str | None:
    found = None
    while traceback is not None:
        if _is_of_program(traceback.tb_frame):
            found = f"{traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return found
