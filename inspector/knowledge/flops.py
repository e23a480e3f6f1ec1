"""How FLOPs are counted where torch has no formula.

- Matmuls, convolutions, attention: 2 for each multiply and add, `torch.utils.flop_counter`'s convention.
- Pointwise: 1 for each element that comes out, whatever the function. Reductions: 1 for each element that goes in.
- Views, copies, creation and indexing: 0, because they compute nothing.
"""

import math
import re
from collections.abc import Sequence
from typing import Any, Final

ATTENTION_ON_CPU: Final = frozenset({
    "aten._scaled_dot_product_flash_attention_for_cpu",
    "aten._scaled_dot_product_flash_attention_for_cpu_backward",
})  # fmt: skip
"""torch's counter has no formula for these, and counts 0."""

MATMUL_LIKE: Final = frozenset(
    {"aten.mv", "aten.dot", "aten.vdot", "aten.addmv", "mkldnn._linear_pointwise", "mkl._mkl_linear"}
)
"""Products that torch's counter leaves out."""

_REDUCTIONS: Final = frozenset(
    {
        "_adaptive_avg_pool2d",
        "_log_softmax",
        "_native_batch_norm_legit",
        "_softmax",
        "all",
        "amax",
        "amin",
        "any",
        "argmax",
        "argmin",
        "avg_pool2d",
        "cumprod",
        "cumsum",
        "linalg_vector_norm",
        "log_softmax",
        "logsumexp",
        "max",
        "max_pool2d_with_indices",
        "mean",
        "median",
        "min",
        "nansum",
        "native_batch_norm",
        "native_group_norm",
        "native_layer_norm",
        "norm",
        "prepare_softmax_online",
        "prod",
        "softmax",
        "sort",
        "std",
        "sum",
        "topk",
        "var",
        "var_mean",
    }
)
_NOTHING: Final = frozenset(
    {
        "_reshape_copy",
        "_to_copy",
        "_unsafe_index",
        "_unsafe_index_put",
        "arange",
        "as_strided_scatter",
        "bernoulli",
        "cat",
        "clone",
        "constant_pad_nd",
        "contiguous",
        "convert_element_type",
        "copy",
        "copy_",
        "device_put",
        "embedding",
        "empty",
        "empty_like",
        "empty_strided",
        "flip",
        "full",
        "full_like",
        "gather",
        "getitem",
        "index",
        "index_put",
        "index_put_",
        "index_select",
        "inductor_lookup_seed",
        "inductor_randint",
        "inductor_random",
        "inductor_seeds",
        "iota",
        "lift_fresh_copy",
        "new_empty",
        "new_full",
        "new_zeros",
        "ones",
        "ones_like",
        "rand",
        "randn",
        "repeat",
        "reshape",
        "resize",
        "roll",
        "scalar_tensor",
        "scatter",
        "scatter_",
        "select_scatter",
        "set_",
        "slice_scatter",
        "stack",
        "where_self_copy",
        "zeros",
        "zeros_like",
    }
)
_CONVOLUTIONS: Final = re.compile(r"conv", re.IGNORECASE)
_ATTENTION: Final = re.compile(r"attention", re.IGNORECASE)


def operator_name(packet: str) -> str:
    """`aten.mm` for any spelling of the overload packet."""
    return packet.removeprefix("torch.ops.").removesuffix(".default")


def heavy_kind(name: str) -> str:
    """matmul, convolution or attention."""
    if _ATTENTION.search(name):
        return "attention"
    return "convolution" if _CONVOLUTIONS.search(name) else "matmul"


def light_kind(name: str, *, is_pointwise: bool, is_view: bool) -> str:
    """pointwise, reduction, none, or other for an operator that we know nothing of."""
    short = name.rsplit(".", 1)[-1]
    if is_view or short in _NOTHING:
        return "none"
    if short in _REDUCTIONS:
        return "reduction"
    return "pointwise" if is_pointwise else "other"


def attention(name: str, arguments: Sequence[Any]) -> int:
    """Scaled-dot-product attention as `torch.utils.flop_counter` counts it on GPUs.

    Forward: Q·Kᵀ and P·V, 2·b·h·s_q·s_k·(d_qk + d_v). Backward: five products, of which three have the shape of Q·Kᵀ
    and two that of P·V, the forward
    product being computed again. `arguments` are shapes [b, h, s, d]: (q, k, v, …), in the backward (grad_out, q, k,
    v, …).
    """
    is_backward = name.endswith("_backward")
    query, key, value = (arguments[1:4] if is_backward else arguments[0:3])  # fmt: skip
    batch, heads, length_q, depth = (int(length) for length in query)
    length_k, depth_v = int(key[-2]), int(value[-1])
    scores, outputs = 2 * batch * heads * length_q * length_k * depth, 2 * batch * heads * length_q * length_k * depth_v
    return 3 * scores + 2 * outputs if is_backward else scores + outputs


def matmul(name: str, arguments: Sequence[Any]) -> int:
    """Matrix-vector and packed linear products: 2 for each multiply and add."""
    shapes = [
        shape
        for shape in arguments
        if isinstance(shape, tuple) and shape and all(type(length) is int for length in shape)
    ]
    if name in ("aten.dot", "aten.vdot"):
        return 2 * int(shapes[0][0])
    if name == "aten.addmv":
        return 2 * int(shapes[1][0]) * int(shapes[1][1])
    if name == "aten.mv":
        return 2 * int(shapes[0][0]) * int(shapes[0][1])
    rows = math.prod(int(length) for length in shapes[0][:-1])
    return 2 * rows * int(shapes[0][-1]) * int(shapes[1][0])
