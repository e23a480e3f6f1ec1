"""Casts operators as autocast does on a GPU, while AOTAutograd traces on the CPU: what is cast there is not the same.

Read it against the lists and policies in ATen/autocast_mode.h, torch 2.11 to 2.15.
"""

import warnings
from collections.abc import Callable
from typing import Any, Final

import torch

from inspect_compile.torch_compat import compilers as names

LOWER: Final = frozenset(
    """
    _convolution.deprecated _convolution conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d.input
    conv_transpose3d.input convolution prelu addmm addmv addr matmul einsum mm mv linalg_vecdot linear addbmm baddbmm
    bmm chain_matmul linalg_multi_dot _thnn_fused_lstm_cell _thnn_fused_gru_cell lstm_cell gru_cell rnn_tanh_cell
    rnn_relu_cell _scaled_dot_product_flash_attention scaled_dot_product_attention
    """.split()  # noqa: SIM905
)
"""Computed in the type that the program asks for."""
SINGLE: Final = frozenset(
    """
    acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow.Tensor_Scalar pow.Tensor_Tensor
    pow.Scalar softplus layer_norm native_layer_norm rms_norm group_norm frobenius_norm.dim nuclear_norm
    nuclear_norm.dim cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss
    kl_div l1_loss smooth_l1_loss huber_loss mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss
    triplet_margin_loss multi_margin_loss binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp
    upsample_nearest1d _upsample_nearest_exact1d upsample_nearest2d _upsample_nearest_exact2d upsample_nearest3d
    _upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d _upsample_bilinear2d_aa upsample_trilinear3d
    upsample_bicubic2d _upsample_bicubic2d_aa
    """.split()  # noqa: SIM905
)
"""Computed in single precision."""
SINGLE_RESULT: Final = frozenset(
    """
    prod prod.dim_int softmax.int log_softmax.int cumprod cumsum linalg_vector_norm linalg_matrix_norm
    linalg_matrix_norm.str_ord sum sum.dim_IntList
    """.split()  # noqa: SIM905
)
"""With a result in single precision, where the program asks for none."""
NORMS: Final = {"norm.Scalar": "norm.ScalarOpt_dtype", "norm.ScalarOpt_dim": "norm.ScalarOpt_dim_dtype"}
"""With a result in single precision, which another overload takes."""
WIDEST: Final = frozenset(
    """
    addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put tensordot scatter_add
    """.split()  # noqa: SIM905
)
"""Computed in single precision if any argument has it."""

_KEY: Final = "AutocastCPU"
_LEFT: Final = "binary_cross_entropy"
"""A GPU refuses it; the program that goes on to run has not come to it."""

_library: Any = None
"""torch takes the kernels back when this is gone."""


def install() -> None:
    """From now on autocast casts as on a GPU, for tensors that are on the CPU."""
    global _library
    _library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    policies = {
        **dict.fromkeys(LOWER, _lower),
        **dict.fromkeys(SINGLE, _single),
        **dict.fromkeys(SINGLE_RESULT, _single_result),
        **dict.fromkeys(NORMS, _norm),
        **dict.fromkeys(WIDEST, _widest),
    }
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*Overriding a previously registered kernel")
        for name, policy in policies.items():
            if (operator := _operator(name)) is not None:
                _library.impl(operator, policy(operator), _KEY, allow_override=True)
        for name in _of_cpu():
            if name not in policies and name != _LEFT:
                _library.impl(_operator(name), torch.library.fallthrough_kernel, _KEY, allow_override=True)


def _of_cpu() -> list[str]:
    """What autocast casts on the CPU."""
    everything = {name.removeprefix("aten::") for name in names.ALL_OPERATORS.load()() if "aten::" in name}
    has_kernel = names.HAS_KERNEL.load()
    return [name for name in everything if has_kernel(f"aten::{name}", _KEY)]


def _operator(name: str) -> Any:
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet, None), overload or "default", None)


def _without_autocast() -> Any:
    key = names.DISPATCH_KEY.load().AutocastCPU
    return names.EXCLUDE_KEYS.load()(names.DISPATCH_KEY_SET.load()(key))


def _below(operator: Any, arguments: Any, named: Any) -> Any:
    with _without_autocast():
        return operator(*arguments, **named)


def _cast(operator: Any, dtype: torch.dtype, arguments: Any, named: Any) -> Any:
    """Call it with all of them cast, the last one first, as the C++ of torch's own builds evaluates them."""
    with _without_autocast():
        to = _to(dtype)
        declared = [argument.name for argument in operator._schema.arguments]
        behind = {name: to(named[name]) for name in reversed(declared) if name in named}
        before = [to(value) for value in reversed(arguments)]
        return operator(*reversed(before), **behind)


def _to(dtype: torch.dtype) -> Callable[[Any], Any]:
    def cast(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [cast(item) for item in value]
        return value.to(dtype) if _is_cast(value) and value.dtype != dtype else value

    return cast


def _is_cast(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype != torch.float64


def _asked() -> torch.dtype:
    return torch.get_autocast_dtype("cpu")


def _lower(operator: Any) -> Callable[..., Any]:
    return lambda *arguments, **named: _cast(operator, _asked(), arguments, named)


def _single(operator: Any) -> Callable[..., Any]:
    return lambda *arguments, **named: _cast(operator, torch.float32, arguments, named)


def _single_result(operator: Any) -> Callable[..., Any]:
    def computed(*arguments: Any, **named: Any) -> Any:
        places = [argument.name for argument in operator._schema.arguments if not argument.kwarg_only]
        given = {**dict(zip(places, arguments, strict=False)), **named}
        if _is_cast(arguments[0]) and given.get("dtype") is None:
            given["dtype"] = torch.float32
        return _below(operator, (), given)

    return computed


def _norm(operator: Any) -> Callable[..., Any]:
    wider = _operator(NORMS[operator.name().removeprefix("aten::")])

    def computed(*arguments: Any, **named: Any) -> Any:
        dtype = torch.float32 if _is_cast(arguments[0]) else arguments[0].dtype
        if len(arguments) + len(named) > 2 and len(arguments) < 4:
            named = {"keepdim": False, **named}
        return _below(wider, arguments, {**named, "dtype": dtype})

    return computed


def _widest(operator: Any) -> Callable[..., Any]:
    def computed(*arguments: Any, **named: Any) -> Any:
        tensors = names.PYTREE.load().tree_leaves((arguments, named))
        is_single = any(_is_cast(value) and value.dtype == torch.float32 for value in tensors)
        return _cast(operator, torch.float32 if is_single else _asked(), arguments, named)

    return computed
