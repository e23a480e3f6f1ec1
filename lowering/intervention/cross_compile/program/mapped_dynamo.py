"""Inside compiled functions, what is put on a CUDA device stands on the CPU, and says that it is on the GPU.

The graph keeps the program's devices; its fake tensors have none but the CPU.
"""

from collections.abc import Callable
from typing import Any, Final

import torch

from inspect_compile.lowering.intervention.cross_compile.program.program import CPU, GPU, Program, on_gpu
from inspect_compile.torch_compat import Name
from inspect_compile.torch_compat import mapped as names

_OURS: Final = (
    "device",
    "lacking",
    "mapped",
    "mapped_dynamo",
    "mapped_module",
    "own_operators",
    "program",
    "stand_ins",
    "user_kernels",
)
"""What stands in for functions of torch. Not `retrace`: Dynamo is to look into that."""


def install_fake_tensors(program: Program) -> None:
    """A fake tensor on a CUDA device is one of the CPU."""
    new = names.FAKE_TENSOR.load()

    def on_cpu(cls: Any, fake_mode: Any, elem: Any, device: Any, *arguments: Any, **named: Any) -> Any:
        if on_gpu(device):
            program.uses_gpu, device = True, CPU
        return new(cls, fake_mode, elem, device, *arguments, **named)

    names.FAKE_TENSOR.put(staticmethod(on_cpu))


def install_rules(program: Program) -> None:
    """Dynamo takes a tensor's own methods for what they are, and looks into nothing of ours."""
    tensor: Any = torch.Tensor
    for name in program.methods:
        delattr(tensor, name)
    try:
        names.TENSOR_METHODS.load()()  # and remembers what it found
    finally:
        for name, method in program.methods.items():
            setattr(tensor, name, method)
    for module in _OURS:
        names.SKIP.load()(f"{__package__}.{module}")


def install_classes(program: Program) -> None:
    """A stand-in for a stream or an event is none that could be part of a graph."""
    cuda: Any = torch.cuda
    there = {name: getattr(cuda, name) for name in program.classes}
    for name, original in program.classes.items():
        setattr(cuda, name, original)
    try:
        names.GRAPH_CLASSES.load()()  # and remembers what it found
    finally:
        for name, stand_in in there.items():
            setattr(cuda, name, stand_in)


def install_attributes(program: Program) -> None:
    """`x.device` and `x.is_cuda` are asked of Dynamo's variable."""
    for name in names.TENSOR_ATTRIBUTES:
        _told(program, name)


def _told(program: Program, name: Name) -> None:
    ask: Callable[[Any, Any], Any] = name.load()

    def told(variable: Any, tx: Any) -> Any:
        module = str(tx.f_globals.get("__name__", ""))
        if not program.uses_gpu or variable.device != CPU or module.partition(".")[0] == "torch":
            return ask(variable, tx)
        variable.device = GPU
        try:
            return ask(variable, tx)
        finally:
            variable.device = CPU

    name.put(told)
