"""How FLOPs are counted where torch has no formula.

- Matmuls, convolutions, attention: 2 for each multiply and add, `torch.utils.flop_counter`'s convention.
- Pointwise operators, reductions and scans: `scalar_operations`, for each element that comes out or goes in.
- What adds to what is there (scatter_add, index_put with accumulate): 1 for each element that is added.
- Operators for lists (`_foreach_add`): as the operator for one tensor, for each tensor of the list.
- Views, copies, creation and gathers: 0, because they compute nothing.
- Sizes and other numbers, which are computed on the host: 0, because they are no tensors.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

ATTENTION_ON_CPU: Final = frozenset({
    "aten._scaled_dot_product_flash_attention_for_cpu",
    "aten._scaled_dot_product_flash_attention_for_cpu_backward",
})  # fmt: skip
"""torch's counter has no formula for these, and counts 0."""

MATMUL_LIKE: Final = frozenset(
    {"aten.mv", "aten.dot", "aten.vdot", "aten.addmv", "mkldnn._linear_pointwise", "mkl._mkl_linear"}
)
"""Matmuls that torch's counter leaves out."""

HELD_IN_GRAPHS: Final = frozenset({"cond", "while_loop", "invoke_subgraph"})
"""Operators that run nested graphs, whose nodes are counted themselves."""

LAUNCHES_OF_OWN_KERNELS: Final = frozenset({"triton_kernel_wrapper_mutation", "triton_kernel_wrapper_functional"})
"""Operators that launch a user's Triton kernel: no operator says what it computes."""

_REDUCTIONS: Final = frozenset(
    {
        *("_adaptive_avg_pool2d", "_log_softmax", "_log_softmax_backward_data", "_low_memory_max_pool_with_offsets"),
        *("_native_batch_norm_legit", "_softmax", "_softmax_backward_data", "all", "amax", "amin", "aminmax", "any"),
        *("argmax", "argmin", "avg_pool2d", "avg_pool3d", "bincount", "count_nonzero", "cummax", "cummin", "cumprod"),
        *("cumsum", "histc", "kthvalue", "linalg_vector_norm", "log_softmax", "logcumsumexp", "logsumexp", "max"),
        *("max_pool2d_with_indices", "max_pool3d_with_indices", "mean", "median", "min", "mode", "nanmedian"),
        *("nansum", "native_batch_norm", "native_batch_norm_backward", "native_group_norm"),
        *("native_group_norm_backward", "native_layer_norm", "native_layer_norm_backward", "norm"),
        *("prepare_softmax_online", "prod", "softmax", "sort", "std", "std_mean", "sum", "topk", "var", "var_mean"),
    }
)
_NOTHING: Final = frozenset(
    {
        *("_low_memory_max_pool_offsets_to_indices", "_make_token", "_reshape_copy", "_sink_tokens", "_to_copy"),
        *("_unsafe_index", "_unsafe_index_put", "arange", "as_strided_scatter", "bernoulli", "cat", "clone"),
        *("constant_pad_nd", "contiguous", "convert_element_type", "copy", "copy_", "device_put", "embedding"),
        *("empty", "empty_like", "empty_strided", "flip", "full", "full_like", "gather", "getitem", "index"),
        *("index_put", "index_put_", "index_select", "inductor_lookup_seed", "inductor_randint", "inductor_random"),
        *("inductor_seeds", "iota", "lift_fresh_copy", "new_empty", "new_full", "new_zeros", "ones", "ones_like"),
        *("rand", "randn", "repeat", "reshape", "resize", "rev", "roll", "scalar_tensor", "scatter", "scatter_"),
        *("select_scatter", "set_", "slice_scatter", "stack", "where_self_copy", "zeros", "zeros_like"),
    }
)
POOLS: Final = frozenset(
    {
        "aten.avg_pool2d",
        "aten.avg_pool3d",
        "aten.max_pool2d_with_indices",
        "aten.max_pool3d_with_indices",
        "prims._low_memory_max_pool_with_offsets",
    }
)
"""Reductions of windows, which may overlap: 1 for each element of each window."""
_ADDS: Final = {
    "_unsafe_masked_index_put_accumulate": 3,
    "embedding_dense_backward": 0,
    "index_add": 3,
    "index_add_": 3,
    "max_pool2d_with_indices_backward": 0,
    "max_pool3d_with_indices_backward": 0,
    "scatter_add": 3,
    "scatter_add_": 3,
    "scatter_reduce": 3,
    "scatter_reduce_": 3,
}
"""Operator → position of the argument whose elements it adds to existing values."""
_ADDS_WHERE_TOLD: Final = frozenset({"index_put", "index_put_", "_unsafe_index_put"})
"""The same for the third argument, if the fourth, `accumulate`, is true."""
_CONVOLUTIONS: Final = re.compile(r"conv", re.IGNORECASE)
_ATTENTION: Final = re.compile(r"attention", re.IGNORECASE)


def operator_name(packet: str) -> str:
    """`aten.mm` for any spelling of the overload packet."""
    return packet.removeprefix("torch.ops.").removesuffix(".default")


def of_each(name: str) -> str:
    """`aten.add` for `aten._foreach_add`, which does that to each tensor of a list; empty for any other operator."""
    before, is_there, of_one = name.partition("._foreach_")
    return f"{before}.{of_one.removesuffix('_')}" if is_there else ""


def heavy_kind(name: str) -> str:
    """matmul, convolution or attention."""
    if _ATTENTION.search(name):
        return "attention"
    return "convolution" if _CONVOLUTIONS.search(name) else "matmul"


NUMBERS: Final = frozenset({"SymInt", "SymFloat", "SymBool", "int", "float", "bool"})
"""Types of results that are not tensors: they are computed on the host."""


def light_kind(name: str, *, is_pointwise: bool, is_view: bool) -> str:
    """pointwise, reduction, none, or other for an unknown operator."""
    short = name.rsplit(".", 1)[-1]
    if is_view or short in _NOTHING:
        return "none"
    if short in _REDUCTIONS:
        return "reduction"
    return "pointwise" if is_pointwise else "other"


def may_add(name: str) -> bool:
    """True if the operator adds to existing values, always or on request."""
    short = name.rsplit(".", 1)[-1]
    return short in _ADDS or short in _ADDS_WHERE_TOLD


def added(name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """What an operator adds to existing values; None if it adds nothing."""
    short = name.rsplit(".", 1)[-1]
    if short in _ADDS_WHERE_TOLD:
        is_told = keywords.get("accumulate", arguments[3] if len(arguments) > 3 else False)
        return arguments[2] if is_told and len(arguments) > 2 else None
    position = _ADDS.get(short)
    return arguments[position] if position is not None and position < len(arguments) else None


def pooled(output: Any, arguments: Sequence[Any]) -> Any:
    """Elements of all windows of a pooling operator."""
    first = output if hasattr(output, "shape") else output[0]
    window = arguments[1]
    lengths = [window] if isinstance(window, int) else list(window)
    axes = 3 if len(first) > 4 or len(lengths) == 3 else 2
    return math.prod(first) * math.prod(lengths * (axes if len(lengths) == 1 else 1))


def attention(name: str, arguments: Sequence[Any]) -> Any:
    """Scaled-dot-product attention as `torch.utils.flop_counter` counts it on GPUs.

    Forward: Q·Kᵀ and P·V, 2·b·h·s_q·s_k·(d_qk + d_v). Backward: five products, of which three have the shape of Q·Kᵀ
    and two that of P·V, the forward
    product being computed again. `arguments` are shapes [b, h, s, d]: (q, k, v, …), in the backward (grad_out, q, k,
    v, …).
    """
    is_backward = name.endswith("_backward")
    query, key, value = (arguments[1:4] if is_backward else arguments[0:3])  # fmt: skip
    batch, heads, length_q, depth = query
    length_k, depth_v = key[-2], value[-1]
    scores, outputs = 2 * batch * heads * length_q * length_k * depth, 2 * batch * heads * length_q * length_k * depth_v
    return 3 * scores + 2 * outputs if is_backward else scores + outputs


def matmul(name: str, arguments: Sequence[Any]) -> Any:
    """Matrix-vector and packed linear products: 2 for each multiply and add."""
    shapes = [shape for shape in arguments if isinstance(shape, tuple) and shape and hasattr(shape, "shape")]
    if name in ("aten.dot", "aten.vdot"):
        return 2 * shapes[0][0]
    if name == "aten.addmv":
        return 2 * shapes[1][0] * shapes[1][1]
    if name == "aten.mv":
        return 2 * shapes[0][0] * shapes[0][1]
    return 2 * math.prod(shapes[0]) * shapes[1][0]
