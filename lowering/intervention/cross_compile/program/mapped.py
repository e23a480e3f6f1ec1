"""Maps CUDA to the CPU in a program whose graphs are compiled for a GPU that is not present.

What the program puts on a CUDA device is on the CPU, and says that it is on the GPU. For a program that never names a
CUDA device nothing changes, except for what torch.cuda answers.
"""

import functools
import inspect
import os
import sys
from collections.abc import Callable
from typing import Any, Final

import torch

from inspect_compile.lowering.intervention.cross_compile import device as devices
from inspect_compile.lowering.intervention.cross_compile.aten_kernels import override
from inspect_compile.lowering.intervention.cross_compile.pickling import user_operators
from inspect_compile.lowering.intervention.cross_compile.program import lacking, made_up, mapped_module, refusals
from inspect_compile.lowering.intervention.cross_compile.program.program import (
    CPU,
    GPU,
    MappedProgram,
    is_torch,
    on_gpu,
)
from inspect_compile.torch_compat import mapped as names
from inspect_compile.torch_compat.compilers import TENSOR_MODULE

_LOAD_PRIORITY: Final = 5
"""Priority of our function that loads storages onto a device: torch's for CUDA, with 20, comes later."""


def install(program: MappedProgram) -> None:
    """Map CUDA, until the process ends; to be called right after `import torch`."""
    for variable in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"):
        os.putenv(variable, "")  # hides a GPU that is present; os.environ stays as it is

    def wake(*_: Any) -> None:
        program.uses_gpu = True
        _map_devices(program)

    mapped_module.install(program)
    user_operators.install()
    names.LAZY_INIT.put(wake)
    _tensors(program, wake)
    _precision(program)
    _generators(program)
    _ranks(program)
    torch.serialization.register_package(
        _LOAD_PRIORITY, lambda storage: None, lambda storage, place: storage if on_gpu(place) else None
    )


@functools.cache
def _map_devices(program: MappedProgram) -> None:
    """Make CUDA another name of the CPU for torch's own code.

    A device without an index is resolved by CUDA's device guard, which is now the CPU's. For one with an index torch
    asks no guard, so CUDA's kernels of the operators that create tensors are replaced, too.
    """
    devices.guard_cuda_as(devices.CPU)
    lacking.compute()
    refusals.lift()
    made_up.install(program)
    aten = torch.ops.aten
    creates = (
        *(aten.empty.memory_format, aten.empty_strided.default),
        *(aten.tril_indices.default, aten.triu_indices.default),
    )
    override(((operator, _on_cpu(operator)) for operator in creates), "CUDA")


def _on_cpu(operator: Any) -> Callable[..., Any]:
    """A kernel for an operator that creates a tensor: it creates the tensor on the CPU."""

    def made(*arguments: Any, device: Any = None, pin_memory: Any = None, **named: Any) -> Any:
        return operator(*arguments, device=CPU, **named)

    return made


def _tensors(program: MappedProgram, wake: Callable[[], None]) -> None:
    """Replace the methods and attributes of tensors that take a device or return one."""
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
    """Module.to with "cuda:0" for a device that is given as a number, which a build without CUDA does not accept."""
    if arguments and type(arguments[0]) is int:
        arguments = (GPU, *arguments[1:])
    if type(named.get("device")) is int:
        named["device"] = GPU
    return to(module, *arguments, **named)


def _as_torch(function: Any, original: Any) -> Any:
    """The function, made to look like a part of torch: Dynamo does not compile it as a frame of the program."""
    function.__qualname__ = original.__qualname__
    function.__doc__ = original.__doc__
    function.__code__ = function.__code__.replace(co_filename=TENSOR_MODULE.load().__file__)
    return function


def _precision(program: MappedProgram) -> None:
    """Make autocast("cuda") and a GradScaler for "cuda" those of the CPU, with the GPU's default type."""

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

        # Dynamo must take the answer for a constant, as it does torch's, and it refuses to call functions of this file.
        # torch.compiler.assume_constant_result would set the same mark, and import Dynamo.
        answer.__code__ = answer.__code__.replace(co_filename=f"<{ask.__name__}>")
        return functools.wraps(ask)(mark(answer))

    def mark(answer: Any) -> Any:
        answer._dynamo_marked_constant = True
        return answer

    _around(names.AUTOCAST, autocast)
    _around(names.GRAD_SCALER, scaler)
    torch.is_autocast_enabled = cast_for(torch.is_autocast_enabled)


def _generators(program: MappedProgram) -> None:
    """Make torch.Generator(device="cuda") a generator of the CPU."""
    plain: Any = torch.Generator

    class _Kind(type):
        """Lets `isinstance(x, torch.Generator)` hold for torch's generators."""

        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, plain)

    class Generator(metaclass=_Kind):
        """Creates a torch._C.Generator."""

        def __new__(cls, device: Any = CPU) -> Any:
            return plain(CPU if on_gpu(device) else device)

    Generator.__qualname__, Generator.__module__, Generator.__doc__ = "Generator", plain.__module__, plain.__doc__
    torch.Generator = Generator  # type: ignore[misc]


def _ranks(program: MappedProgram) -> None:
    """Let Gloo do what the program wants of NCCL, and DistributedDataParallel run on the CPU."""

    def group(begin: Any, backend: Any = None, *rest: Any, **named: Any) -> Any:
        if backend is not None and "nccl" in str(backend).lower():
            program.unmapped(f"torch.distributed's {backend}", "gloo stands in for it")
            backend = "gloo"
        if on_gpu(named.get("device_id")):
            named.pop("device_id")
        return begin(backend, *rest, **named)

    def wrapped(init: Any, instance: Any, module: Any, *rest: Any, **named: Any) -> None:
        """DistributedDataParallel without devices, which it accepts only for modules on a GPU."""
        bound = inspect.signature(init).bind(instance, module, *rest, **named)
        bound.arguments.update({name: None for name in ("device_ids", "output_device") if name in bound.arguments})
        init(*bound.args, **bound.kwargs)

    if not torch.distributed.is_available():
        return
    _around(names.INIT_PROCESS_GROUP, group)
    torch.distributed.init_process_group = names.INIT_PROCESS_GROUP.load()
    _around(names.DATA_PARALLEL, wrapped)


def install_sharding(program: MappedProgram) -> None:
    """Let FSDP2 keep its shards where its mesh of GPUs is, on the CPU."""

    def place(device_of: Any, mesh: Any) -> torch.device:
        return CPU if on_gpu(mesh.device_type) else device_of(mesh)

    _around(names.SHARD_DEVICE, place)


def _around(name: Any, answer: Callable[..., Any]) -> None:
    """Replace the function `name` by one that calls `answer` with the original and then the arguments."""
    original = name.load()

    @functools.wraps(original)
    def around(*arguments: Any, **named: Any) -> Any:
        return answer(original, *arguments, **named)

    name.put(around)
