"""What run.json says of the machine and of versions: what the program has loaded. Initializes no device."""

import functools
import os
import sys
from typing import Any

import inspect_compile
from inspect_compile.interrupts import let_pass
from inspect_compile.knowledge.overview import variables

_RANKS = ("RANK", "OMPI_COMM_WORLD_RANK")
_LOCAL_RANKS = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK")
"""The variables of torchrun and compatible launchers, and of Open MPI."""


def environment() -> dict[str, str]:
    """The environment variables that affect a compile, and the values of known settings. No others: dumps are attached
    to public issues.
    """
    return {
        name: printable(variables.kept(name, value))
        for name, value in sorted(os.environ.items())
        if variables.is_told(name)
    }


def versions() -> dict[str, str]:
    """Versions of Python, of inspect-compile, and of what the program has imported."""
    found = {"python": sys.version.split()[0], "inspect_compile": inspect_compile.__version__}
    torch = sys.modules.get("torch")
    if torch is not None:
        found["torch"] = str(getattr(torch, "__version__", "unknown"))
        found["triton"] = _triton()
    return found


def device(target: str | None = None) -> str:
    """`cpu`, or the GPU that the program used: `cuda (NVIDIA H200, sm_90)`; `target sm_90` for one that is
    not present.
    """
    if target is not None:
        return f"target {target}"
    torch: Any = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return "cpu"
    try:
        major, minor = cuda.get_device_capability()
        return f"cuda ({cuda.get_device_name()}, sm_{major}{minor})"
    except Exception as error:  # a device that is lost
        let_pass(error)
        return "cuda"


def host() -> str:
    """What Inductor's C++ code depends on: the architecture, its vectors, and the number of threads."""
    torch: Any = sys.modules.get("torch")
    try:
        return f"{os.uname().machine}, {torch.backends.cpu.get_cpu_capability()}, {torch.get_num_threads()} threads"
    except Exception as error:  # torch is not loaded, or not completely
        let_pass(error)
        return ""


def rank() -> int | None:
    """This process's rank in a distributed run: from its launcher, else from torch.distributed."""
    for name in _RANKS:
        value = os.environ.get(name, "")
        if value.isdecimal():
            return int(value)
    distributed: Any = sys.modules.get("torch.distributed")
    try:
        return int(distributed.get_rank()) if distributed.is_initialized() else None
    except Exception as error:  # it is not loaded, or not built into this torch
        let_pass(error)
        return None


def is_first_here() -> bool:
    """True for the rank that prints, of those on this machine; also without ranks."""
    return all(os.environ.get(name, "0") in ("", "0") for name in _LOCAL_RANKS)


def printable(text: str) -> str:
    """`text` without the lone surrogates that stand for bytes that are not UTF-8: JSON cannot represent them."""
    return text.encode("utf-8", "backslashreplace").decode()


@functools.cache
def _triton() -> str:
    loaded = sys.modules.get("triton")
    if loaded is not None:
        return str(getattr(loaded, "__version__", "unknown"))
    from importlib.metadata import PackageNotFoundError, version

    for package in ("triton", "pytorch-triton", "triton-windows"):
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return "absent"
