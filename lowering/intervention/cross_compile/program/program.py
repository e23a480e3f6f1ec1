"""The state of a program whose CUDA is mapped to the CPU, and the remarks about what cannot be mapped."""

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
"""Modules of torch that ask about the GPU on behalf of the program: Dynamo, while it traces the program's calls."""
_BETWEEN: Final = {"torch", "triton", "inspect_compile"} | sys.stdlib_module_names
"""Packages whose frames are not the program's."""
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
"""Parts of torch's messages about something that only a GPU has, or that the CPU has for fewer types."""


class MappedProgram:
    """The program of this process."""

    def __init__(
        self,
        targets: tuple[str, ...],
        *,
        fake_kernels: bool,
        tell: Callable[[Remark], None],
        deliver: Callable[[bytes], None],
    ) -> None:
        """`targets` are the GPUs that its graphs are compiled for; torch.cuda answers for the first one.

        `fake_kernels`: go on with zeros where the program launches a Triton kernel. `tell` receives remarks, `deliver`
        pickled graphs to compile.
        """
        self.target = TARGETS[targets[0]]
        self.targets = targets
        self.fake_kernels = fake_kernels
        self.uses_gpu = False
        """Whether it has put anything on the GPU; from then on all its tensors say that they are there."""
        self.casts = False
        """Whether it has used autocast("cuda")."""
        self.deliver = deliver
        self.methods: dict[str, Callable[..., Any]] = {}
        """Methods of torch.Tensor → our replacements."""
        self.made_up: list[str] = []
        """Operators that the CPU can't compute and whose results are made up, `aten::mm.dtype`, in order of use."""
        self.classes: dict[str, type] = {}
        """Replaced classes of torch.cuda, by name: torch's own."""
        self._tell = tell
        self._reported: set[tuple[str, str, str | None]] = set()

    def remark(self, code: str, message: str, where: str | None = None, ids: tuple[str, ...] = ()) -> None:
        """Write a remark, once for each line; `where` is a line such as `file.py:12`, by default the running one; `ids`
        are the operators or kernels that it is about.
        """
        where = where or line(sys._getframe(1))
        if (code, message, where) not in self._reported:
            self._reported.add((code, message, where))
            self._tell(Remark(kind="missed", code=code, message=message, where=where, ids=ids))

    def makes_up(self, operator: str) -> None:
        """The results of `operator` are zeros: the CPU can't compute it."""
        if operator not in self.made_up:
            self.made_up.append(operator)
            message = (
                f"the CPU can't compute {operator}: the program goes on with zeros in the shape, type and strides of "
                "its results, and all numbers that depend on them are made up"
            )
            self.remark("target-made-up", message, ids=(operator,))

    def reads(self) -> None:
        """The program reads a number after some were made up."""
        message = (
            "a number is read here that may depend on made-up ones: on the GPU the program may take another branch"
        )
        self.remark("target-reads-made-up", message, ids=tuple(self.made_up))

    def unmapped(self, what: str, instead: str) -> None:
        """The program used `what`, which has no counterpart on the CPU; `instead` says what happens."""
        self.remark("target-cuda", f"{what} can't be mapped to the CPU: {instead}")

    def ended(self, error: BaseException | None) -> None:
        """The program ended, with `error` or with none: a remark is written if only a GPU has what it needed."""
        if error is not None and any(text in str(error) for text in _NEEDS_GPU):
            what = str(error).splitlines()[0]
            message = f"the program ended with something that can't be mapped to the CPU: {what}"
            self.remark("target-cuda", message, _line_of(error.__traceback__))


def is_torch(frame: FrameType) -> bool:
    """Whether a frame is torch's, acting for itself and not for the program."""
    name = str(frame.f_globals.get("__name__", ""))
    return name.partition(".")[0] == "torch" and name not in _ON_BEHALF


def line(frame: FrameType | None) -> str | None:
    """The innermost line of the program at or above a frame: `file.py:12`; None if there is none."""
    found = frame_summary(frame)
    return None if found is None else f"{found.filename}:{found.lineno}"


def frame_summary(frame: FrameType | None) -> traceback.FrameSummary | None:
    """The same line as an entry of a traceback."""
    while frame is not None and not _is_of_program(frame):
        frame = frame.f_back
    return None if frame is None else traceback.extract_stack(frame, limit=1)[0]


def on_gpu(value: Any) -> bool:
    """Whether a value names a CUDA device: torch.device("cuda"), "cuda", "cuda:0"."""
    if isinstance(value, torch.device):
        return value.type == GPU.type
    return isinstance(value, str) and value.partition(":")[0] == GPU.type


def _is_of_program(frame: FrameType) -> bool:
    """Whether a frame runs code from a file of the program."""
    module = str(frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] not in _BETWEEN and not frame.f_code.co_filename.startswith("<")


def _line_of(trace: TracebackType | None) -> str | None:
    """The innermost line of the program in a traceback."""
    found = None
    while trace is not None:
        if _is_of_program(trace.tb_frame):
            found = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found
