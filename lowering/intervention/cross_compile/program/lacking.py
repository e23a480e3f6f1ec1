"""In the program: what the CPU computes for fewer types than a GPU is computed through one that it has."""

import functools
import inspect
import sys
import warnings
from typing import Any

import torch

from inspect_compile.lowering.intervention.cross_compile.program.program import Program
from inspect_compile.torch_compat import mapped as names

_library: Any = None
"""torch takes the kernels back when this is gone."""


@functools.cache
def compute() -> None:
    """From now on, as something of the program's stands on the CPU in the place of a GPU.

    A histogram of whole numbers, by which a mixture of experts counts its tokens, a GPU has, and a CPU has not.
    """
    global _library
    _library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    operator = torch.ops.aten.histc.default
    plain = torch.library.get_kernel(operator, "CPU")

    def histogram(keys: Any, value: torch.Tensor, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:  # noqa: A002
        if value.is_floating_point():
            return plain.call_boxed(keys, value, bins, min, max)
        return plain.call_boxed(keys, value.double(), bins, min, max).to(value.dtype)

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*Overriding a previously registered kernel")
        _library.impl(operator, histogram, "CPU", with_keyset=True, allow_override=True)
    if names.HISTOGRAM_SHAPE.module in sys.modules:
        _tell_shapes()


def install(program: Program) -> None:
    """Once torch's shape functions are there: perhaps later than the program's first tensor on a GPU."""
    if program.uses_gpu:
        _tell_shapes()


@functools.cache
def _tell_shapes() -> None:
    """The shape function asks whether its tensor is on the CPU. From now on none is, to its code."""
    function = inspect.unwrap(names.HISTOGRAM_SHAPE.load())
    code = function.__code__
    function.__code__ = code.replace(co_consts=tuple("meta" if value == "cpu" else value for value in code.co_consts))
