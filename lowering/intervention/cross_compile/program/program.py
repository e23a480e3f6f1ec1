"""What the program is told of the GPU that is not here, and what it asked for that a CPU does not have."""

import sys
import traceback
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Final

import torch

from inspect_compile.facts import Remark
from inspect_compile.knowledge.targets.targets import TARGETS
from inspect_compile.torch_compat import mapped as names

GPU: Final = torch.device("cuda", 0)
CPU: Final = torch.device("cpu")

_ON_BEHALF: Final = frozenset(name.module for name in names.ON_BEHALF)
"""Code of torch's that asks what the program would."""
_BETWEEN: Final = {"torch", "triton", "inspect_compile"} | sys.stdlib_module_names
"""Packages whose frames may stand between the program's line and what it asked for."""
_NEEDS_GPU: Final = (
    "with arguments from the 'CPU' backend",
    "without ATen_cuda",
    "not compiled with CUDA",
    "Cannot access accelerator device",
    "requires a CUDA",
    "Found no NVIDIA driver",
    "not implemented for '",
    "Unsupported dtype Half",
    "No viable backend for scaled_dot_product_attention",
)
"""What torch says of something that only a GPU has, or may have for more types than the CPU."""


class Program:
    """The program of this process. `targets` are the GPUs; it is told of the first."""

    def __init__(
        self,
        targets: tuple[str, ...],
        *,
        fake_kernels: bool,
        tell: Callable[[Remark], None],
        deliver: Callable[[bytes], None],
    ) -> None:
        self.target = TARGETS[targets[0]]
        self.targets = targets
        self.fake_kernels = fake_kernels
        self.uses_gpu = False
        """Has it put anything on the GPU? From then on all its tensors say that they are there."""
        self.casts = False
        """Has it asked for autocast("cuda")?"""
        self.deliver = deliver
        """Has a parcel compiled for the targets."""
        self.methods: dict[str, Callable[..., Any]] = {}
        """What stands in the place of a tensor's own."""
        self.classes: dict[str, type] = {}
        """Of torch.cuda, torch's own that stand-ins have the place of."""
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
        """It ended with `error`: perhaps because of something that only a GPU has."""
        if error is not None and any(text in str(error) for text in _NEEDS_GPU):
            what = str(error).splitlines()[0]
            message = f"the program ended with what can't be mapped to the CPU: {what}"
            self.remark("target-cuda", message, _line_of(error.__traceback__))


def is_torch(frame: FrameType) -> bool:
    """Does torch ask for itself? It is told that there is no GPU."""
    name = str(frame.f_globals.get("__name__", ""))
    return name.partition(".")[0] == "torch" and name not in _ON_BEHALF


def line(frame: FrameType | None) -> str | None:
    """The innermost line of the program's: `file.py:12`."""
    found = frame_summary(frame)
    return None if found is None else f"{found.filename}:{found.lineno}"


def frame_summary(frame: FrameType | None) -> traceback.FrameSummary | None:
    """The same, as it stands in a traceback."""
    while frame is not None and not _is_of_program(frame):
        frame = frame.f_back
    return None if frame is None else traceback.extract_stack(frame, limit=1)[0]


def on_gpu(value: Any) -> bool:
    """Is it a CUDA device, in whichever way it is written?"""
    if isinstance(value, torch.device):
        return value.type == GPU.type
    return isinstance(value, str) and value.partition(":")[0] == GPU.type


def _is_of_program(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] not in _BETWEEN and not frame.f_code.co_filename.startswith("<")


def _line_of(trace: TracebackType | None) -> str | None:
    found = None
    while trace is not None:
        if _is_of_program(trace.tb_frame):
            found = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found
