"""Inside compiled functions, what is put on a CUDA device stands on the CPU, and says that it is on the GPU.

The graph keeps the program's devices; its fake tensors have none but the CPU.
"""

from collections.abc import Callable
from typing import Any

from inspect_compile.lowering.shadow.names import now, replace
from inspect_compile.lowering.shadow.program import CPU, GPU, Program, on_gpu
from inspect_compile.torch_compat import Name
from inspect_compile.torch_compat import mapped as names


def install_fake_tensors(program: Program) -> None:
    """A fake tensor on a CUDA device is one of the CPU."""
    new = now(names.FAKE_TENSOR)

    def on_cpu(cls: Any, fake_mode: Any, elem: Any, device: Any, *arguments: Any, **named: Any) -> Any:
        if on_gpu(device):
            program.uses_gpu, device = True, CPU
        return new(cls, fake_mode, elem, device, *arguments, **named)

    replace(names.FAKE_TENSOR, staticmethod(on_cpu))


def install_attributes(program: Program) -> None:
    """`x.device` and `x.is_cuda` are asked of Dynamo's variable."""
    for name in names.TENSOR_ATTRIBUTES:
        _told(program, name)


def _told(program: Program, name: Name) -> None:
    ask: Callable[[Any, Any], Any] = now(name)

    def told(variable: Any, tx: Any) -> Any:
        module = str(tx.f_globals.get("__name__", ""))
        if not program.uses_gpu or variable.device != CPU or module.partition(".")[0] == "torch":
            return ask(variable, tx)
        variable.device = GPU
        try:
            return ask(variable, tx)
        finally:
            variable.device = CPU

    replace(name, told)
