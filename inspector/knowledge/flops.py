"""How FLOPs are counted where torch has no formula.

- Matmuls, convolutions, attention: 2 for each multiply and add, `torch.utils.flop_counter`'s convention.
- Pointwise: 1 for each element that comes out, whatever the function. Reductions: 1 for each element that goes in.
- Views, copies, creation and indexing: 0, because they compute nothing.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

ATTENTION_ON_CPU: Final = frozenset({
    "aten._scaled_dot_product_flash_attention_for_cpu",
    "aten._scaled_dot_product_flash_attention_for_cpu_backward",
})  # fmt: skip
"""torch's counter has no formula for these, and counts 0."""

MATMUL_LIKE: Final = frozenset({"aten.mv", "aten.dot", "aten.vdot", "aten.addmv", "mkldnn._linear_pointwise", "mkl._mkl_linear"})
"""Products that torch's counter leaves out."""

_REDUCTIONS: Final = frozenset(
    "sum mean amax amin max min prod var var_mean std argmax argmin any all norm linalg_vector_norm logsumexp cumsum cumprod "
    "nansum softmax _softmax log_softmax _log_softmax native_layer_norm native_group_norm avg_pool2d max_pool2d_with_indices "
    "_adaptive_avg_pool2d sort topk native_batch_norm _native_batch_norm_legit prepare_softmax_online median".split()
)
_NOTHING: Final = frozenset(
    "clone copy copy_ _to_copy contiguous cat stack index index_select gather slice_scatter select_scatter scatter scatter_ index_put index_put_ "
    "_unsafe_index _unsafe_index_put embedding constant_pad_nd full full_like zeros zeros_like ones ones_like empty empty_like empty_strided arange iota "
    "new_zeros new_empty new_full scalar_tensor lift_fresh_copy repeat flip roll rand randn inductor_random inductor_seeds inductor_lookup_seed "
    "convert_element_type device_put where_self_copy getitem reshape _reshape_copy inductor_randint bernoulli as_strided_scatter set_ resize".split()
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

    Forward: Q·Kᵀ and P·V, 2·b·h·s_q·s_k·(d_qk + d_v). Backward: five products, of which three have the shape of Q·Kᵀ and two that of P·V, the forward
    product being computed again. `arguments` are shapes [b, h, s, d]: (q, k, v, …), in the backward (grad_out, q, k, v, …).
    """
    is_backward = name.endswith("_backward")
    query, key, value = (arguments[1:4] if is_backward else arguments[0:3])  # fmt: skip
    batch, heads, length_q, depth = query
    length_k, depth_v = key[-2], value[-1]
    scores, outputs = 2 * batch * heads * length_q * length_k * depth, 2 * batch * heads * length_q * length_k * depth_v
    return 3 * scores + 2 * outputs if is_backward else scores + outputs


def matmul(name: str, arguments: Sequence[Any]) -> int:
    """Matrix-vector and packed linear products: 2 for each multiply and add."""
    shapes = [shape for shape in arguments if isinstance(shape, tuple) and shape and all(type(length) is int for length in shape)]
    if name in ("aten.dot", "aten.vdot"):
        return 2 * int(shapes[0][0])
    if name == "aten.addmv":
        return 2 * int(shapes[1][0]) * int(shapes[1][1])
    if name == "aten.mv":
        return 2 * int(shapes[0][0]) * int(shapes[0][1])
    rows = 1
    for length in shapes[0][:-1]:
        rows *= int(length)
    return 2 * rows * int(shapes[0][-1]) * int(shapes[1][0])
