"""What a library call allocates besides the wrapper's buffers, as far as torch or the library documents it.

Sources: torch's aten/src/ATen/cuda/CublasHandlePool.cpp (`parseChosenWorkspaceSize`) and docs/source/notes/cuda.rst,
"cuBLAS workspaces"; the cuBLAS documentation of `cublasSetWorkspace`; c10/cuda/CUDACachingAllocator (`kMinBlockSize`).
"""

import re
from typing import Final

from inspect_compile.knowledge.kernels.library_kernels import operator_of

BLOCK: Final = 512
"""Bytes of the CUDA caching allocator's smallest block: sizes are rounded up to a multiple."""
CONFIG: Final = "CUBLAS_WORKSPACE_CONFIG"
"""The environment variable, `:SIZE:COUNT` any number of times, sizes in KiB."""
_KIB: Final = 1 << 10
_BEFORE_HOPPER: Final = (2 * 4096 + 8 * 16) * _KIB
_SINCE_HOPPER: Final = 32 * 1024 * _KIB
_HOPPER: Final = (9, 0)
_VERSIONS: Final = ((2, 11), (2, 13))
"""The releases of torch that are known to keep such a workspace."""

_BLAS: Final = frozenset({"mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "dot", "_int_mm", "_scaled_mm"})
_CONVOLUTION: Final = "convolution"
_ATTENTION: Final = "attention"


def library(kernel: str) -> str:
    """The library that an extern kernel calls on an NVIDIA GPU: `cuBLAS` for `extern_kernels.mm`."""
    name = operator_of(kernel)
    if name in _BLAS:
        return "cuBLAS"
    if name.startswith(_CONVOLUTION):
        return "cuDNN"
    return _ATTENTION if _ATTENTION in name else "other operators"


def cublas_workspace(capability: tuple[int, int], torch: str, config: str) -> int | None:
    """Bytes that torch keeps for cuBLAS on each stream, from its first call on; None if not known."""
    version = re.match(r"(\d+)\.(\d+)", torch)
    if version is None or not _VERSIONS[0] <= (int(version[1]), int(version[2])) <= _VERSIONS[1]:
        return None
    if config:
        parts = re.findall(r":(\d+):(\d+)", config)
        return sum(int(size) * int(count) for size, count in parts) * _KIB if parts else None
    return _SINCE_HOPPER if capability >= _HOPPER else _BEFORE_HOPPER
