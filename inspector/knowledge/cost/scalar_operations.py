"""Scalar operations per element of aten operators other than matmuls. docs/flops.md has the convention.

For a pointwise operator per output element, for a reduction or scan per input element. An operator that is not listed
counts 1, as transcendental if it is named after such a function.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from inspect_compile.knowledge.cost.kernel_operations import SPECIAL


class Each(NamedTuple):
    """Counts for one element."""

    operations: int
    special: int = 0
    """The part that is transcendental."""


_POINTWISE: Final[dict[str, Each]] = {
    "addcdiv": Each(3),
    "addcmul": Each(3),
    "celu": Each(5, 1),
    "elu": Each(4, 1),
    "elu_backward": Each(4, 1),
    "fma": Each(2),
    "gelu": Each(5, 1),
    "gelu_backward": Each(11, 2),
    "hardsigmoid": Each(4),
    "hardsigmoid_backward": Each(4),
    "hardswish": Each(5),
    "hardswish_backward": Each(6),
    "hardtanh": Each(2),
    "hardtanh_backward": Each(4),
    "leaky_relu": Each(3),
    "leaky_relu_backward": Each(3),
    "lerp": Each(3),
    "log_sigmoid_forward": Each(5, 2),
    "logaddexp": Each(5, 2),
    "logit": Each(3, 1),
    "mish": Each(4, 3),
    "native_dropout": Each(4, 1),
    "sigmoid_backward": Each(3),
    "silu": Each(2, 1),
    "silu_backward": Each(6, 1),
    "softplus": Each(6, 2),
    "softplus_backward": Each(5, 1),
    "tanh_backward": Each(3),
    "threshold": Each(2),
    "threshold_backward": Each(2),
}
"""Counted as the formulas are written: gelu is x · 0.5 · (1 + erf(x · c)): mul, mul, erf, add, mul."""

_REDUCTIONS: Final[dict[str, Each]] = {
    "_log_softmax": Each(5, 1),
    "_log_softmax_backward_data": Each(4, 1),
    "_native_batch_norm_legit": Each(8),
    "_softmax": Each(5, 1),
    "_softmax_backward_data": Each(4),
    "argmax": Each(2),
    "argmin": Each(2),
    "linalg_vector_norm": Each(2),
    "log_softmax": Each(5, 1),
    "logcumsumexp": Each(5, 2),
    "logsumexp": Each(4, 1),
    "native_batch_norm": Each(8),
    "native_batch_norm_backward": Each(12),
    "native_group_norm": Each(8),
    "native_group_norm_backward": Each(12),
    "native_layer_norm": Each(8),
    "native_layer_norm_backward": Each(12),
    "norm": Each(2),
    "prepare_softmax_online": Each(4, 1),
    "softmax": Each(5, 1),
    "std": Each(4),
    "std_mean": Each(4),
    "var": Each(4),
    "var_mean": Each(4),
}
"""softmax: max, sub, exp, sum, div; a variance: sum, sub, mul, sum; a norm layer: that and sub, mul, mul, add."""

_POWERS: Final[dict[Any, int]] = {2: 1, 3: 2, 4: 2, -1: 1}
"""Exponents that are expanded to multiplications, and their number."""
_ALPHA: Final = frozenset({"add", "sub", "rsub"})


def pointwise(name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Each:
    """Counts for one output element."""
    short = _short(name)
    if short in _ALPHA and keywords.get("alpha", 1) != 1:
        return Each(2)
    if short == "clamp":
        bounds = [*arguments[1:3], keywords.get("min"), keywords.get("max")]
        return Each(sum(bound is not None for bound in bounds) or 1)
    if short == "pow" and len(arguments) > 1 and isinstance(arguments[1], (int, float)) and arguments[1] in _POWERS:
        return Each(_POWERS[arguments[1]])
    return _POINTWISE.get(short) or Each(1, int(short.removeprefix("special_") in SPECIAL))


def reduction(name: str) -> Each:
    """Counts for one input element."""
    return _REDUCTIONS.get(_short(name), Each(1))


def _short(name: str) -> str:
    return name.rsplit(".", 1)[-1].removesuffix("_")
