"""In the program: what the CPU computes for fewer types than a GPU is computed in a type that it has."""

import functools
import inspect
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any, Final

import torch

from inspect_compile.lowering.intervention.cross_compile.program.program import Program
from inspect_compile.torch_compat import mapped as names

_INTEGERS: Final = ("Byte", "Char", "Short", "Int", "Long")
_HALVES: Final = ("Half", "BFloat16")
LACKING: Final = {
    "histc": _INTEGERS,  # by which a mixture of experts counts its tokens
    "abs": ("Bool",),
    "trace": ("Bool",),
    "avg_pool3d": _HALVES,
    "avg_pool3d_backward": _HALVES,
    "_upsample_bilinear2d_aa": _HALVES,
    "_upsample_bilinear2d_aa_backward": _HALVES,
    "_upsample_bicubic2d_aa": _HALVES,
    "_upsample_bicubic2d_aa_backward": _HALVES,
    "multi_margin_loss": _HALVES,
    "multi_margin_loss_backward": _HALVES,
    "multilabel_margin_loss_forward": _HALVES,
    "multilabel_margin_loss_backward": _HALVES,
    "rrelu_with_noise": _HALVES,
    "rrelu_with_noise_": _HALVES,
}
"""ATen operator → what torch calls the types that CUDA's kernel has and the CPU's has not, of torch 2.11 to 2.15.

From torch's own table of operators and their types (`op_db`), each tried; tests/targets/test_lacking.py does it again.
Besides these, a CPU lacks transforms of Fourier's in half precision, which are refused before any kernel is chosen, and
attention's own operators, which are called by no program's own line; a remark says so.
"""
_WIDER: Final = {
    "Bool": {torch.bool: torch.uint8},
    "Byte": {torch.uint8: torch.float64},
    "Char": {torch.int8: torch.float64},
    "Short": {torch.int16: torch.float64},
    "Int": {torch.int32: torch.float64},
    "Long": {torch.int64: torch.float64},
    "Half": {torch.float16: torch.float32},
    "BFloat16": {torch.bfloat16: torch.float32},
}
"""A type → what it is computed in."""
_REFUSED: Final = re.compile(r"not implemented for '(\w+)'")

_library: Any = None
"""torch takes the kernels back when this is gone."""


@functools.cache
def compute() -> None:
    """From now on, as something of the program's stands on the CPU in the place of a GPU."""
    global _library
    _library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*Overriding a previously registered kernel")
        for name, types in LACKING.items():
            packet = getattr(torch.ops.aten, name)
            for overload in packet.overloads():
                operator = getattr(packet, overload)
                if operator.has_kernel_for_dispatch_key(names.CPU_KEY.load()):
                    kernel = _wider(operator, types)
                    _library.impl(operator, kernel, "CPU", with_keyset=True, allow_override=True)
    if names.HISTOGRAM_SHAPE.module in sys.modules:
        _tell_shapes()


def _wider(operator: Any, types: tuple[str, ...]) -> Callable[..., Any]:
    """The CPU's kernel; where that refuses one of `types`, the same in a wider one, whose results are made narrow.

    Raises what the CPU's kernel raises.
    """
    plain = torch.library.get_kernel(operator, "CPU")
    written = [
        argument.alias_info is not None and argument.alias_info.is_write for argument in operator._schema.arguments
    ]
    positions = {argument.name: index for index, argument in enumerate(operator._schema.arguments)}

    def called(keys: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return plain.call_boxed(keys, *arguments, **named)
        except NotImplementedError as error:
            found = _REFUSED.search(str(error))
            if found is None or found[1] not in types:
                raise
            refused = found[1]
        wider = _WIDER[refused]
        wide, wide_named = (
            [_in(wider, value) for value in arguments],
            {name: _in(wider, value) for name, value in named.items()},
        )
        results = plain.call_boxed(keys, *wide, **wide_named)
        pairs = [*zip(arguments, wide, range(len(wide)), strict=True)]
        pairs += [(value, wide_named[name], positions[name]) for name, value in named.items()]
        changed = [(given, used) for given, used, position in pairs if written[position] and used is not given]
        for given, used in changed:
            given.resize_(used.shape).copy_(used)
        narrow = {other: own for own, other in wider.items()}

        def result(value: Any) -> Any:
            own = next((given for given, used in changed if used is value), None)
            return _in(narrow, value) if own is None else own

        return tuple(map(result, results)) if isinstance(results, tuple) else result(results)

    return called


def _in(types: dict[torch.dtype, torch.dtype], value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.dtype in types:
        return value.to(types[value.dtype])
    return value


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
