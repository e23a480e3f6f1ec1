"""c10's table of device guards: who answers for the current device of each type."""

import ctypes
import os
from typing import Final

import torch

CPU: Final = 0
CUDA: Final = 1
META: Final = 14
"""Places in the table, c10/core/DeviceType.h."""

_KINDS: Final = 24
"""Device types that every torch from 2.11 has room for."""
_GUARDS: Final = "_ZN3c104impl26device_guard_impl_registryE"


def answer_for_cuda(kind: int) -> None:
    """From now on the guard of that type does: changing the current device does nothing.

    A build without CUDA has no guard for it, and every operator that is traced on a FakeTensor of that device asks for
    one.
    """
    path = os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so")
    table = (ctypes.c_void_p * _KINDS).in_dll(ctypes.CDLL(path), _GUARDS)
    table[CUDA] = table[kind]
