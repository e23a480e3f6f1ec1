"""The memory format of a convolution's result on a GPU: channels-last if cuDNN gets any argument in that format.

This follows select_conv_backend and determine_backend_memory_format in aten/src/ATen/native/Convolution.cpp, and
cudnn_conv_suggest_memory_format in ConvUtils.h, torch 2.11 to 2.15. A torch that is built for the CPU answers for the
CPU.
"""

from typing import Any, Final

import torch

from inspect_compile.torch_compat import targets as names
from inspect_compile.torch_compat.compilers import SUGGEST_MEMORY_FORMAT

_LAST: Final = (torch.channels_last, torch.channels_last_3d)
_CUDNN: Final = frozenset({"Cudnn", "CudnnTranspose"})
_SLOW: Final = {
    (4, False, False): "Slow2d",
    (4, False, True): "SlowDilated2d",
    (4, True, False): "SlowTranspose2d",
    (4, True, True): "SlowTranspose2d",
    (5, False, False): "SlowDilated3d",
    (5, False, True): "SlowDilated3d",
    (5, True, False): "SlowTranspose3d",
    (5, True, True): "SlowTranspose3d",
}
"""(dimensions, is it transposed, is it dilated) → torch's kernel on a GPU where cuDNN cannot be used."""


def install() -> None:
    """Let torch's shape function for convolutions get the answers of an NVIDIA GPU, until the process ends.

    For AMD GPUs nothing is changed: MIOpen's choice depends on its version and on environment variables.
    """
    determine = names.CONVOLUTION_FORMAT.load()

    def selected(input: Any, weight: Any, *_: Any, **named: Any) -> Any:  # noqa: A002
        return getattr(names.CONVOLUTION_BACKENDS.load(), backend(input, weight, **_asked(named)))

    def determined(input: Any, weight: Any, chosen: Any) -> Any:  # noqa: A002
        return layout(input, weight) if chosen.name in _CUDNN else determine(input, weight, chosen)

    names.CONVOLUTION_BACKEND.put(selected)
    names.CONVOLUTION_FORMAT.put(determined)


def backend(
    value: Any,
    weight: Any,
    *,
    stride: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
) -> str:
    """Name of the backend that torch selects for a convolution (torch._C._ConvBackend).

    For a depthwise convolution, which torch may select later, it is one whose result has the same memory format.
    """
    dimensions = max(value.ndim, 4)  # one dimension is computed as two
    if 0 in (value.shape[0], value.shape[1]):
        return "Empty"
    is_dilated = any(step != 1 for step in dilation)
    has_cudnn = _has_cudnn(stride, output_padding)
    depthwise = not transposed and groups > 1 and value.shape[1] == groups and weight.shape[0] % value.shape[1] == 0
    if depthwise:
        is_last = has_cudnn and layout(value, weight) in _LAST
        return "Cudnn" if is_last else "CudaDepthwise2d" if dimensions == 4 else "CudaDepthwise3d"
    if has_cudnn:
        return "CudnnTranspose" if transposed else "Cudnn"
    return _SLOW[dimensions, transposed, is_dilated]


def layout(value: Any, weight: Any) -> torch.memory_format:
    """The memory format of cuDNN's arguments and result."""
    if torch.float64 in (value.dtype, weight.dtype) or weight.ndim not in (4, 5):
        return torch.contiguous_format
    last = _LAST[weight.ndim - 4]
    return last if last in map(SUGGEST_MEMORY_FORMAT.load(), (value, weight)) else torch.contiguous_format


def _has_cudnn(stride: list[int], output_padding: list[int]) -> bool:
    """Whether cuDNN can run it: not with an output padding that is as large as the stride."""
    is_big = any(more >= step for more, step in zip(output_padding, stride, strict=False))
    return torch.backends.cudnn.enabled and not is_big


def _asked(named: dict[str, Any]) -> dict[str, Any]:
    """The arguments of torch's question that the backend depends on."""
    return {name: named[name] for name in ("stride", "dilation", "transposed", "output_padding", "groups")}
