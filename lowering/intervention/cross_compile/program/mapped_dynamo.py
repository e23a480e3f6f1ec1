"""Maps CUDA to the CPU inside compiled functions: what Dynamo knows of tensors and devices.

The nodes of a graph keep the devices that the program names; its FakeTensors are all on the CPU.
"""

from collections.abc import Callable
from typing import Any, Final

import torch

from inspect_compile.lowering.intervention.cross_compile.program.program import CPU, GPU, MappedProgram, on_gpu
from inspect_compile.torch_compat import Name
from inspect_compile.torch_compat import mapped as names

_OURS: Final = (
    *("lacking", "made_up", "mapped", "mapped_dynamo", "mapped_module", "program", "stand_ins", "user_kernels"),
)
"""Modules of this package whose functions replace torch's, so that Dynamo must not trace into them; it may trace into
`retrace`.
"""


def install_fake_tensors(program: MappedProgram) -> None:
    """Put FakeTensors of a CUDA device on the CPU.

    The value of one without dimensions stays unknown in a trace, as on a GPU: reading it breaks the graph, where a
    number on the CPU becomes a part of the compile.
    """
    new, made_of = names.FAKE_TENSOR.load(), names.FROM_TENSOR.load()

    def on_cpu(cls: Any, fake_mode: Any, elem: Any, device: Any, *arguments: Any, **named: Any) -> Any:
        if on_gpu(device):
            program.uses_gpu, device = True, CPU
        return new(cls, fake_mode, elem, device, *arguments, **named)

    def without_value(converter: Any, mode: Any, tensor: Any, *arguments: Any, **named: Any) -> Any:
        made = made_of(converter, mode, tensor, *arguments, **named)
        if program.uses_gpu and tensor.dim() == 0 and tensor.dtype is not torch.float64:  # as Dynamo wraps a float
            made.item_memo = None
        return made

    names.FAKE_TENSOR.put(staticmethod(on_cpu))
    names.FROM_TENSOR.put(without_value)


def install_rules(program: MappedProgram) -> None:
    """Let Dynamo list a tensor's methods without our replacements, and keep it from tracing into our modules."""
    tensor: Any = torch.Tensor
    for name in program.methods:
        delattr(tensor, name)
    try:
        names.TENSOR_METHODS.load()()  # which caches its result
    finally:
        for name, method in program.methods.items():
            setattr(tensor, name, method)
    for module in _OURS:
        names.SKIP.load()(f"{__package__}.{module}")


def install_classes(program: MappedProgram) -> None:
    """Let Dynamo list torch's classes of streams and events, which may be in a graph, without our replacements."""
    cuda: Any = torch.cuda
    there = {name: getattr(cuda, name) for name in program.classes}
    for name, original in program.classes.items():
        setattr(cuda, name, original)
    try:
        names.GRAPH_CLASSES.load()()  # which caches its result
    finally:
        for name, stand_in in there.items():
            setattr(cuda, name, stand_in)


def install_attributes(program: MappedProgram) -> None:
    """Let `x.device` and `x.is_cuda` in compiled functions of the program give the GPU."""
    for name in names.TENSOR_ATTRIBUTES:
        _answer_gpu(program, name)


def _answer_gpu(program: MappedProgram, name: Name) -> None:
    """Replace the method of Dynamo's TensorVariable that returns one of these attributes."""
    ask: Callable[[Any, Any], Any] = name.load()

    def answered(variable: Any, tx: Any) -> Any:
        module = str(tx.f_globals.get("__name__", ""))
        if not program.uses_gpu or variable.device != CPU or module.partition(".")[0] == "torch":
            return ask(variable, tx)
        variable.device = GPU
        try:
            return ask(variable, tx)
        finally:
            variable.device = CPU

    name.put(answered)
