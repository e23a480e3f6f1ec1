"""Makes torch believe that the device cuda:0 of this process is a GPU that is not present.

Only for a process that does nothing but compile: it is installed right after `import torch`, before torch's compiler is
loaded, and stays until the process ends.
"""

from typing import Any

import torch

from inspect_compile.knowledge.targets.targets import Target
from inspect_compile.lowering.intervention.cross_compile import device
from inspect_compile.lowering.intervention.cross_compile.aten_kernels import override
from inspect_compile.torch_compat import targets as names


def install(target: Target) -> None:
    """Make cuda:0 the GPU `target`. No tensor is ever on it: those that are created there are FakeTensors, or on the
    CPU.
    """
    _device(target)
    device.guard_cuda_as(device.META)
    _empty_tensors()
    device.drive(target)
    # The source of each kernel calls this function, which would look for libcuda.
    names.SET_DRIVER.put(_always(None))


def _device(target: Target) -> None:
    """Let the functions of torch.cuda answer for the target."""
    props = device.properties(target)
    seed = torch.zeros(16, dtype=torch.uint8)
    answers: dict[str, Any] = {
        "is_available": True,
        "is_initialized": True,
        "is_bf16_supported": target.backend == "hip" or target.capability >= (8, 0),
        "get_device_properties": props,
        "get_device_capability": target.capability,
        "get_device_name": props.name,
        "get_arch_list": [target.name],
        "current_device": 0,
        "device_count": 1,
        "_exchange_device": 0,
        "_maybe_exchange_device": 0,
        "set_device": None,
        "synchronize": None,
        "_lazy_init": None,
        "memory_allocated": 0,
        "mem_get_info": (target.memory, target.memory),
        "get_rng_state": seed,
        "set_rng_state": None,
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, _always(answer))
    # What is checkpointed and draws numbers: the partitioner makes inputs of the generator's states.
    generator = _Generator()
    torch.cuda.default_generators = (generator,)
    names.DEFAULT_GENERATOR.put(_always(generator))
    names.CURRENT_STREAM.put(_always(0))
    names.CACHES_MEMORY.put(_always(True))
    if target.backend == "hip":
        # A ROCm build says so in torch.version; Inductor asks there and nowhere else.
        torch.version.hip, torch.version.cuda = "7.0", None
    elif torch.version.cuda is None:
        torch.version.cuda = "13.0"


class _Generator(torch.Generator):
    """The default generator of the device: nothing is drawn, but graphs have its states as inputs."""

    device = torch.device("cuda", 0)

    def clone_state(self) -> "_Generator":
        """Another generator of the device."""
        return _Generator()

    def graphsafe_get_state(self) -> "_Generator":
        """The same; torch's generators of the CPU have no such state."""
        return _Generator()

    def get_offset(self) -> int:
        """How many numbers were drawn: none."""
        return 0


def _always(answer: Any) -> Any:
    """A function that returns `answer`, whatever it is called with."""
    return lambda *arguments, **named: answer


def _empty_tensors() -> None:
    """Create real tensors for the device on the CPU, and let FakeTensors do without the device."""

    def empty(size: Any, *, dtype: Any = None, **_: Any) -> torch.Tensor:
        return torch.empty(size, dtype=dtype, device="cpu")

    def empty_strided(size: Any, stride: Any, *, dtype: Any = None, **_: Any) -> torch.Tensor:
        return torch.empty_strided(size, stride, dtype=dtype, device="cpu")

    override([("empty.memory_format", empty), ("empty_strided", empty_strided)], "CUDA")
    names.AVOID_DEVICE.put(property(lambda mode: True))
    names.INIT_DEVICE.put(_always(None))
