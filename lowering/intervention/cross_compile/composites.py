"""Composite operators as torch's C++ decomposes them for a GPU; for the CPU it decomposes them differently."""

import math
from typing import Any, Final

import torch

from inspect_compile.torch_compat import compilers as names

aten: Final = torch.ops.aten
_COMPOSITE: Final = names.DISPATCH_KEY.load().CompositeImplicitAutograd


def rms_norm(input: Any, normalized_shape: list[int], weight: Any = None, eps: float | None = None) -> Any:  # noqa: A002
    """rms_norm_symint in aten/src/ATen/native/layer_norm.cpp: a GPU has a kernel for it, with its own backward.

    That kernel's decompositions are called directly: a build for the CPU has no derivative for the kernel's operator.
    """
    shape = list(normalized_shape)
    channels_last = (torch.channels_last, torch.channels_last_3d)
    if (
        input.is_complex()
        or names.SUGGEST_MEMORY_FORMAT.load()(input) in channels_last
        or (weight is not None and weight.dtype != input.dtype)
    ):
        return aten.rms_norm.default._op_dk(_COMPOSITE, input, shape, weight, eps)
    apply: Any = _RmsNorm.apply
    return apply(input, shape, weight, eps)


class _RmsNorm(torch.autograd.Function):
    """Forward and backward of the GPU's kernel, by torch's decompositions of both."""

    @staticmethod
    def forward(context: Any, value: Any, shape: list[int], weight: Any, eps: float | None) -> Any:
        with names.ORIGINAL_OPERATOR.load()(aten._fused_rms_norm.default):
            result, rstd = names.RMS_NORM.load()(value, shape, weight, eps)
        context.save_for_backward(value, weight, rstd)
        context.shape = shape
        return result

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        value, weight, rstd = context.saved_tensors
        wanted = [context.needs_input_grad[0], context.needs_input_grad[2]]
        with names.ORIGINAL_OPERATOR.load()(aten._fused_rms_norm_backward.default):
            of_value, of_weight = names.RMS_NORM_BACKWARD.load()(gradient, value, context.shape, rstd, weight, wanted)
        return of_value, None, of_weight, None


def softmax(input: Any, dim: int, dtype: torch.dtype | None = None) -> Any:  # noqa: A002
    """aten/src/ATen/native/SoftMax.cpp: on a GPU one kernel reads float16 and writes float32."""
    if input.dtype == torch.float16 and dtype == torch.float32:
        return aten._softmax(input, dim, True)
    return aten.softmax.int._op_dk(_COMPOSITE, input, dim, dtype)


def lstm_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:  # noqa: A002
    """LSTMCell in aten/src/ATen/native/RNN.cpp: a GPU has one kernel for everything after the two matmuls."""
    if b_ih is None or b_hh is None:  # torch's shape function for that kernel fails without biases, on a GPU too
        return aten.lstm_cell.default._op_dk(_COMPOSITE, input, hx, w_ih, w_hh, b_ih, b_hh)
    hidden, cell = hx
    products = torch.matmul(input, w_ih.t()), torch.matmul(hidden, w_hh.t())
    return aten._thnn_fused_lstm_cell(*products, cell, b_ih, b_hh)[:2]


def gru_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:  # noqa: A002
    """GRUCell in aten/src/ATen/native/RNN.cpp, where the same holds as for `lstm_cell`."""
    if b_ih is None or b_hh is None:
        return aten.gru_cell.default._op_dk(_COMPOSITE, input, hx, w_ih, w_hh, b_ih, b_hh)
    products = torch.matmul(input, w_ih.t()), torch.matmul(hx, w_hh.t())
    return aten._thnn_fused_gru_cell(*products, hx, b_ih, b_hh)[0]


def group_norm(
    input: Any,  # noqa: A002
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Any:
    """aten/src/ATen/native/group_norm.cpp: the CPU's kernel reads channels-last inputs, for a GPU's they are copied."""
    if input.is_contiguous() or input.ndim < 2:
        return aten.group_norm.default._op_dk(_COMPOSITE, input, num_groups, weight, bias, eps, cudnn_enabled)
    batch, channels, *places = input.shape
    return aten.native_group_norm(
        input.contiguous(),
        None if weight is None else weight.contiguous(),
        None if bias is None else bias.contiguous(),
        batch,
        channels,
        math.prod(places),
        num_groups,
        eps,
    )[0]


COMPOSITES: Final[dict[Any, Any]] = {
    aten.rms_norm.default: rms_norm,
    aten.softmax.int: softmax,
    aten.lstm_cell.default: lstm_cell,
    aten.gru_cell.default: gru_cell,
    aten.group_norm.default: group_norm,
}
"""Operator → its decomposition for a GPU."""
