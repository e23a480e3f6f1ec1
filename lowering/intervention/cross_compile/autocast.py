"""Casts operators as autocast does on a GPU, while AOTAutograd traces on the CPU, where autocast has other lists.

This follows the lists and policies of ATen/autocast_mode.h, torch 2.11 to 2.15.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import torch

from inspect_compile.lowering.intervention.cross_compile.aten_kernels import override
from inspect_compile.torch_compat import compilers as names

LOWER: Final = frozenset(
    """
    _convolution.deprecated _convolution conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d.input
    conv_transpose3d.input convolution prelu addmm addmv addr matmul einsum mm mv linalg_vecdot linear addbmm baddbmm
    bmm chain_matmul linalg_multi_dot _thnn_fused_lstm_cell _thnn_fused_gru_cell lstm_cell gru_cell rnn_tanh_cell
    rnn_relu_cell _scaled_dot_product_flash_attention scaled_dot_product_attention
    """.split()  # noqa: SIM905
)
"""Operators that are computed in the type of the autocast block."""
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
"""Operators that are computed in float32."""
SINGLE_RESULT: Final = frozenset(
    """
    prod prod.dim_int softmax.int log_softmax.int cumprod cumsum linalg_vector_norm linalg_matrix_norm
    linalg_matrix_norm.str_ord sum sum.dim_IntList
    """.split()  # noqa: SIM905
)
"""Operators that get float32 as the type of their result, unless the program gives one."""
NORMS: Final = {"norm.Scalar": "norm.ScalarOpt_dtype", "norm.ScalarOpt_dim": "norm.ScalarOpt_dim_dtype"}
"""Operators that get a float32 result through another overload, which takes the type."""
WIDEST: Final = frozenset(
    """
    addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put tensordot scatter_add
    """.split()  # noqa: SIM905
)
"""Operators that are computed in float32 if any argument is float32."""

_KEY: Final = "AutocastCPU"
_LEFT: Final = "binary_cross_entropy"
"""On a GPU autocast refuses this operator, so that a program which got as far as a compile does not call it."""


def install() -> None:
    """Let autocast cast tensors on the CPU as it casts those on a GPU, until the process ends."""
    policies = {
        **dict.fromkeys(LOWER, _lower),
        **dict.fromkeys(SINGLE, _single),
        **dict.fromkeys(SINGLE_RESULT, _single_result),
        **dict.fromkeys(NORMS, _norm),
        **dict.fromkeys(WIDEST, _widest),
    }
    operators = {name: operator for name in policies if (operator := _operator(name)) is not None}
    override(((operator, policies[name](operator)) for name, operator in operators.items()), _KEY)
    others = [name for name in _cast_on_cpu() if name not in policies and name != _LEFT]
    override(((_operator(name), torch.library.fallthrough_kernel) for name in others), _KEY)


def _cast_on_cpu() -> Iterator[str]:
    """Names of the ATen operators that the CPU's autocast casts."""
    has_kernel = names.HAS_KERNEL.load()
    everything = {name for name in names.ALL_OPERATORS.load()() if "aten::" in name}
    return (name.removeprefix("aten::") for name in everything if has_kernel(name, _KEY))


def _operator(name: str) -> Any:
    """The OpOverload `add.Tensor` of ATen; None if this torch does not have it."""
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet, None), overload or "default", None)


def _without_autocast() -> Any:
    """A context in which operators are called below autocast."""
    key = names.DISPATCH_KEY.load().AutocastCPU
    return names.EXCLUDE_KEYS.load()(names.DISPATCH_KEY_SET.load()(key))


def _below(operator: Any, arguments: Any, named: Any) -> Any:
    """The result of an operator without any cast."""
    with _without_autocast():
        return operator(*arguments, **named)


def _cast(operator: Any, dtype: torch.dtype, arguments: Any, named: Any) -> Any:
    """The result of an operator on arguments that are cast to `dtype`.

    The last argument is cast first, as compiled C++ does it: the order of the casts shows in the graph.
    """
    with _without_autocast():
        to = _to(dtype)
        declared = [argument.name for argument in operator._schema.arguments]
        behind = {name: to(named[name]) for name in reversed(declared) if name in named}
        before = [to(value) for value in reversed(arguments)]
        return operator(*reversed(before), **behind)


def _to(dtype: torch.dtype) -> Callable[[Any], Any]:
    """A function that casts a tensor, or those in a list, if autocast would; it returns anything else as it is."""

    def cast(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [cast(item) for item in value]
        return value.to(dtype) if _is_cast(value) and value.dtype != dtype else value

    return cast


def _is_cast(value: Any) -> bool:
    """Whether autocast casts this value: a floating-point tensor, but not one of float64."""
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype != torch.float64


def _asked() -> torch.dtype:
    """The type of the autocast block."""
    return torch.get_autocast_dtype("cpu")


# The policies: each makes the kernel for one operator.


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
