"""In the program: what it puts on a CUDA device stands on the CPU, and says that it is on the GPU.

Nothing changes for a program that never asks for such a device, but what torch.cuda says is there.
"""

import functools
import inspect
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, Final

import torch

from inspect_compile.lowering.intervention.cross_compile import device as devices
from inspect_compile.lowering.intervention.cross_compile.pickling import user_operators
from inspect_compile.lowering.intervention.cross_compile.program import lacking, mapped_module
from inspect_compile.lowering.intervention.cross_compile.program.program import CPU, GPU, Program, is_torch, on_gpu
from inspect_compile.torch_compat import mapped as names
from inspect_compile.torch_compat.compilers import TENSOR_MODULE

_LOAD_PRIORITY: Final = 5
"""Before torch's own for CUDA, 20."""

_library: Any = None
"""torch takes the kernels back when this is gone."""


def install(program: Program) -> None:
    """Right after `import torch`."""
    for variable in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        os.putenv(variable, "")  # a GPU that is here is not the one that is meant; os.environ stays as it is

    def wake(*_: Any) -> None:
        program.uses_gpu = True
        _map_devices()

    mapped_module.install(program)
    user_operators.remember()
    names.LAZY_INIT.put(wake)
    _tensors(program, wake)
    _precision(program)
    _generators(program)
    _ranks(program)
    torch.serialization.register_package(
        _LOAD_PRIORITY, lambda storage: None, lambda storage, place: storage if on_gpu(place) else None
    )


@functools.cache
def _map_devices() -> None:
    """To torch's own code, CUDA is another name of the CPU.

    Every way to a device asks the device's guard which one is meant, and the CPU's answers. Where the index is given it
    does not ask: the operators that begin a tensor are then CUDA's.
    """
    global _library
    devices.guard_cuda_as(devices.CPU)
    lacking.compute()
    _library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*Overriding a previously registered kernel")
        for operator in (
            torch.ops.aten.empty.memory_format,
            torch.ops.aten.empty_strided.default,
            torch.ops.aten.tril_indices.default,
            torch.ops.aten.triu_indices.default,
        ):
            _library.impl(operator, _on_cpu(operator), "CUDA", allow_override=True)


def _on_cpu(operator: Any) -> Callable[..., Any]:
    def made(*arguments: Any, device: Any = None, pin_memory: Any = None, **named: Any) -> Any:
        return operator(*arguments, device=CPU, **named)

    return made


def _tensors(program: Program, wake: Callable[[], None]) -> None:
    """The methods of a tensor that take a device, or tell it."""
    tensor: Any = torch.Tensor
    base = tensor.__base__
    plain_to, plain_cuda, plain_index = base.to, base.cuda, base.get_device
    tracing = torch.compiler.is_dynamo_compiling

    def to(self: Any, *arguments: Any, **named: Any) -> Any:
        if tracing():
            return plain_to(self, *arguments, **named)
        asked = (*arguments[:1], named.get("device"))
        if any(on_gpu(value) or type(value) is int for value in asked):
            wake()
            if named.get("device") is not None:
                named["device"] = CPU
            else:
                arguments = (CPU, *arguments[1:])
        return plain_to(self, *arguments, **named)

    def cuda(self: Any, device: Any = None, non_blocking: bool = False, **named: Any) -> Any:
        if tracing():
            return plain_cuda(self, **named)
        wake()
        return plain_to(self, CPU, **named)

    def pin_memory(self: Any, device: Any = None) -> Any:
        return self

    def record_stream(self: Any, stream: Any) -> None:
        return None

    def get_device(self: Any) -> int:
        return int(plain_index(self)) if tracing() or not tells(self, 1) else 0

    def tells(self: Any, depth: int) -> bool:
        on_cpu = base.device.__get__(self).type == CPU.type
        return program.uses_gpu and on_cpu and not is_torch(sys._getframe(depth + 1))

    for method in (to, cuda, pin_memory, record_stream, get_device):
        program.methods[method.__name__] = _as_torch(method, getattr(base, method.__name__))
        setattr(tensor, method.__name__, method)
    storage: Any = torch.UntypedStorage
    storage.cuda = _as_torch(lambda self, *_, **__: self, storage.cuda)
    _around(names.MODULE_TO, _by_name)
    tensor.device = property(lambda self: GPU if tells(self, 1) else base.device.__get__(self))
    tensor.is_cuda = property(lambda self: tells(self, 1) or base.is_cuda.__get__(self))


def _by_name(to: Any, module: Any, *arguments: Any, **named: Any) -> Any:
    """A build without CUDA knows no device of a number."""
    if arguments and type(arguments[0]) is int:
        arguments = (GPU, *arguments[1:])
    if type(named.get("device")) is int:
        named["device"] = GPU
    return to(module, *arguments, **named)


def _as_torch(function: Any, original: Any) -> Any:
    """As a part of torch: Dynamo compiles none by itself, and its lines are none of the program's."""
    function.__qualname__ = original.__qualname__
    function.__doc__ = original.__doc__
    function.__code__ = function.__code__.replace(co_filename=TENSOR_MODULE.load().__file__)
    return function


def _precision(program: Program) -> None:
    """autocast("cuda") and a GradScaler for it are the CPU's, with the GPU's default type."""

    def autocast(init: Any, instance: Any, device_type: Any, dtype: Any = None, *rest: Any, **named: Any) -> None:
        if device_type == GPU.type:
            program.casts = True
            dtype, device_type = dtype or torch.get_autocast_dtype(GPU.type), CPU.type
        init(instance, device_type, dtype, *rest, **named)

    def scaler(init: Any, instance: Any, device: Any = GPU.type, *rest: Any, **named: Any) -> None:
        init(instance, CPU.type if on_gpu(device) else device, *rest, **named)

    def cast_for(ask: Any) -> Any:
        def answer(device_type: Any = GPU.type) -> Any:
            frame = sys._getframe(1)
            for_program = not is_torch(frame) or frame.f_globals["__name__"] == names.AUTOCAST.module
            return ask(CPU.type if program.casts and for_program and device_type == GPU.type else device_type)

        # Dynamo takes its answer for a constant, as torch's own; what is of this file it would not call. The mark is
        # that of torch.compiler.assume_constant_result, which would import Dynamo.
        answer.__code__ = answer.__code__.replace(co_filename=f"<{ask.__name__}>")
        return functools.wraps(ask)(mark(answer))

    def mark(answer: Any) -> Any:
        answer._dynamo_marked_constant = True
        return answer

    _around(names.AUTOCAST, autocast)
    _around(names.GRAD_SCALER, scaler)
    torch.is_autocast_enabled = cast_for(torch.is_autocast_enabled)


def _generators(program: Program) -> None:
    """torch.Generator(device="cuda") is one of the CPU."""
    plain: Any = torch.Generator

    class _Kind(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, plain)

    class Generator(metaclass=_Kind):
        """Makes torch._C.Generator."""

        def __new__(cls, device: Any = CPU) -> Any:
            return plain(CPU if on_gpu(device) else device)

    Generator.__qualname__, Generator.__module__, Generator.__doc__ = "Generator", plain.__module__, plain.__doc__
    torch.Generator = Generator  # type: ignore[misc]


def _ranks(program: Program) -> None:
    """What is asked of NCCL, Gloo does."""

    def group(begin: Any, backend: Any = None, *rest: Any, **named: Any) -> Any:
        if backend is not None and "nccl" in str(backend).lower():
            program.unmapped(f"torch.distributed's {backend}", "gloo stands in for it")
            backend = "gloo"
        if on_gpu(named.get("device_id")):
            named.pop("device_id")
        return begin(backend, *rest, **named)

    def wrapped(init: Any, instance: Any, module: Any, *rest: Any, **named: Any) -> None:
        """Devices are only for modules on a GPU."""
        bound = inspect.signature(init).bind(instance, module, *rest, **named)
        bound.arguments.update({name: None for name in ("device_ids", "output_device") if name in bound.arguments})
        init(*bound.args, **bound.kwargs)

    if not torch.distributed.is_available():
        return
    _around(names.INIT_PROCESS_GROUP, group)
    torch.distributed.init_process_group = names.INIT_PROCESS_GROUP.load()
    _around(names.DATA_PARALLEL, wrapped)


def _around(name: Any, answer: Callable[..., Any]) -> None:
    """`answer` is called with what `name` is now, and with what it is called with."""
    original = name.load()

    @functools.wraps(original)
    def around(*arguments: Any, **named: Any) -> Any:
        return answer(original, *arguments, **named)

    name.put(around)
