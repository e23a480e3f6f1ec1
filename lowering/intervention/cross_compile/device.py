"""The answers to what torch and Triton ask about a GPU, for one that is not present."""

import ctypes
import importlib
import os
import types
from typing import Any, Final

import torch

from inspect_compile.knowledge.targets.targets import Target

CPU: Final = 0
CUDA: Final = 1
META: Final = 14
"""Numbers of device types in C++, c10/core/DeviceType.h."""
_KINDS: Final = 24
"""The least length of c10's table of device guards, in torch 2.11 and later."""
_GUARDS: Final = "_ZN3c104impl26device_guard_impl_registryE"


def properties(target: Target) -> Any:
    """What torch.cuda.get_device_properties would return for it: the attributes that torch's compiler reads."""
    is_hip = target.backend == "hip"
    major, minor = target.capability
    return types.SimpleNamespace(
        name=target.gpu,
        type="cuda",
        index=0,
        major=major,
        minor=minor,
        gcnArchName=target.name if is_hip else "",
        multi_processor_count=target.multiprocessors,
        warp_size=target.warp,
        regs_per_multiprocessor=target.registers_per_multiprocessor,
        max_threads_per_multi_processor=target.threads_per_multiprocessor,
        max_threads_per_block=1024,
        shared_memory_per_block=min(target.shared_per_block, 48 << 10) if not is_hip else target.shared_per_block,
        shared_memory_per_block_optin=target.shared_per_block,
        shared_memory_per_multiprocessor=target.shared_per_multiprocessor,
        total_memory=target.memory,
        L2_cache_size=target.l2,
    )


class _Utilities:
    """The `utils` of Triton's driver, which programs use too."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def get_device_properties(self, device: int = 0) -> dict[str, int]:
        """The properties of the GPU under Triton's names."""
        return {
            "max_shared_mem": self._target.shared_per_block,
            "max_num_regs": self._target.registers_per_multiprocessor,
            "multiprocessor_count": self._target.multiprocessors,
            "warpSize": self._target.warp,
        }


class Driver:
    """The active driver for Triton: it names the GPU that Triton compiles for, and can neither load nor launch."""

    def __init__(self, target: Target) -> None:
        self.utils = _Utilities(target)
        self._target = target

    def get_current_target(self) -> Any:
        """The GPU as Triton's GPUTarget."""
        gpu_target = importlib.import_module("triton.backends.compiler").GPUTarget
        major, minor = self._target.capability
        architecture = self._target.name if self._target.backend == "hip" else major * 10 + minor
        return gpu_target(self._target.backend, architecture, self._target.warp)

    def get_current_device(self) -> int:
        """The index of the only device."""
        return 0

    def get_device_interface(self) -> Any:
        """torch's module for the device."""
        return torch.cuda

    def get_active_torch_device(self) -> torch.device:
        """torch's name of the device."""
        return torch.device("cuda", 0)

    def is_active(self) -> bool:
        """True: Triton looks for no other driver."""
        return True


def drive(target: Target) -> None:
    """Make Triton compile for `target`, until the process ends."""
    importlib.import_module("triton.runtime.driver").driver.set_active(Driver(target))


def guard_cuda_as(kind: int) -> None:
    """Let c10's device guard for the device type `kind` (`CPU` or `META`) stand in for CUDA's until the process ends.

    Operators on a CUDA tensor, fake ones included, ask CUDA's guard for the current device. A build without CUDA has
    none; with the CPU's, changing the current device does nothing.
    """
    path = os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so")
    table = (ctypes.c_void_p * _KINDS).in_dll(ctypes.CDLL(path), _GUARDS)
    table[CUDA] = table[kind]
