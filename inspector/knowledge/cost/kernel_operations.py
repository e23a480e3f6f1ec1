"""What the operations of torch's loop bodies count, for each element. docs/flops.md has the convention."""

from typing import Final

MOVES: Final = frozenset(
    {"load", "store", "store_reduction", "load_seed", "bucketize", "get_index", "check_bounds", "output"}
) | {"placeholder", "ops", "constant", "index_expr", "value_expr", "getitem", "identity"}
"""Operations that compute nothing of the FX graph."""

FREE: Final = MOVES | {
    *("device_assert_async", "masked", "masked_subblock", "partial_accumulate", "set_indirect", "to_dtype"),
    *("to_dtype_bitcast", "trunc_to_int"),
}
"""Count 0: moves, casts, and operations that only select elements and their positions."""

SPECIAL: Final = frozenset(
    {
        *("acos", "acosh", "airy_ai", "asin", "asinh", "atan", "atan2", "atanh", "bessel_j0", "bessel_j1"),
        *("bessel_y0", "bessel_y1", "cos", "cosh", "digamma", "erf", "erfc", "erfcx", "erfinv", "exp", "exp2"),
        *("expm1", "gammainc", "gammaincc", "hypot", "i0", "i0e", "i1", "i1e", "igamma", "igammac", "lgamma"),
        *("libdevice_cos", "libdevice_exp", "libdevice_log", "libdevice_sigmoid", "libdevice_sin", "libdevice_sqrt"),
        *("log", "log10", "log1p", "log2", "log_ndtr", "modified_bessel_i0", "modified_bessel_i1"),
        *("modified_bessel_k0", "modified_bessel_k1", "ndtr", "ndtri", "polygamma", "pow", "rand", "rand_eager"),
        *("randint64", "randn", "randn_eager", "rsqrt", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1"),
        *("sigmoid", "sin", "sinh", "spherical_bessel_j0", "sqrt", "tan", "tanh", "zeta"),
    }
)
"""Count 1, and are listed apart: functions without an ordinary instruction of processors, and random numbers."""

_SEVERAL: Final = {
    "fma": 2,
    "dot": 2,
    "reduction.dot": 2,
    "reduction.argmax": 2,
    "reduction.argmin": 2,
    "reduction.welford_reduce": 7,
    "reduction.welford_combine": 9,
    "reduction.variance_in_two_sums": 4,
    "reduction.online_softmax_reduce": 4,
}
"""Count more than 1. Welford's formulas: sub, add, div, add, sub, mul, add for a value; to combine two: sub, add, div,
mul, add, mul, mul, add, add. Two sums, if all values are there at once: add, sub, mul, add. A maximum with its sum:
maximum, sub, exp, add.
"""
_SPECIAL_OF: Final = {"reduction.online_softmax_reduce": 1}
REDUCTION: Final = "reduction."
"""Prefix of the kind of a reduction: `reduction.sum`."""
WELFORD: Final = "reduction.welford_reduce"
WELFORD_AT_ONCE: Final = "reduction.variance_in_two_sums"
"""`WELFORD` in a kernel that holds a whole row."""


def scalar_operations(operator: str) -> int:
    """Count for one element that it iterates over: for a reduction, scan or sort, an input element."""
    return 0 if operator in FREE else _SEVERAL.get(operator, 1)


def special_operations(operator: str) -> int:
    """The part of it that is transcendental."""
    return 1 if operator in SPECIAL else _SPECIAL_OF.get(operator, 0)


def runs_over_all(operator: str) -> bool:
    """True if it runs for every iteration of its loops, though there are fewer results."""
    return operator.startswith(REDUCTION) or operator in ("scan", "sort")
