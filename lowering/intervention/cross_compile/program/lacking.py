"""Lets operators run on the CPU for types that only a GPU's kernel supports, in a program whose CUDA is mapped to the
CPU.

They are computed in a wider type, and the results are converted back.
"""

import functools
import re
from collections.abc import Callable
from typing import Any, Final

import torch

from inspect_compile.lowering.intervention.cross_compile.aten_kernels import override
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
"""ATen operator → torch's names of the types that CUDA's kernel supports and the CPU's does not, torch 2.11 to 2.15.

Found by trying each operator of torch's test suite (`op_db`) with its types, as tests/targets/test_lacking.py does. The
CPU also lacks Fourier transforms in half precision, which torch refuses before it selects a kernel; a remark says so if
a program ends for that reason.
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
"""torch's name of a type → {the type: the type in which it is computed}."""
_REFUSED: Final = re.compile(r"not implemented for '(\w+)'")


@functools.cache
def compute() -> None:
    """Register the wider kernels, once the program has put something on a GPU; until the process ends."""
    packets = ((getattr(torch.ops.aten, name), types) for name, types in LACKING.items())
    operators = [(getattr(packet, overload), types) for packet, types in packets for overload in packet.overloads()]
    has_kernel = [one for one in operators if one[0].has_kernel_for_dispatch_key(names.CPU_KEY.load())]
    override(((operator, _wider(operator, types)) for operator, types in has_kernel), "CPU", with_keyset=True)


def _wider(operator: Any, types: tuple[str, ...]) -> Callable[..., Any]:
    """A kernel that calls the CPU's, and if that refuses one of `types`, calls it again with a wider type.

    Results, and arguments that the operator writes to, are converted back. It raises what the CPU's kernel raises.
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
        wide = [_in(wider, value) for value in arguments]
        wide_named = {name: _in(wider, value) for name, value in named.items()}
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
    """A tensor converted to the type that `types` has for its own; anything else as it is."""
    if isinstance(value, torch.Tensor) and value.dtype in types:
        return value.to(types[value.dtype])
    return value
