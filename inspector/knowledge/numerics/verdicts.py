"""The verdict on one result of one launch: the rule, and its thresholds.

Model: `torch._dynamo.utils.same`, which compares the root mean square error against fp64 of the compiled code with that
of eager, and allows it to be `multiplier` times as large. Where eager is exact by luck, or on the edge of what can be
computed at all, its error says little. So the error that rounding makes is taken to be at least that of the exact
reference with noise, each value moved by one rounding in its dtype. The tolerances are those of
`torch.testing.assert_close`.
"""

from typing import Final

from inspect_compile.facts import Checked

EXACT: Final = "exact"
ROUNDING: Final = "rounding"
NEARER: Final = "nearer than eager"
WORSE: Final = "worse than eager"
WRONG: Final = "wrong"
NOT_COMPARABLE: Final = "not comparable"
VERDICTS: Final[dict[str, str]] = {
    WRONG: "farther from the exact value than rounding explains",
    WORSE: "its error is larger than eager's and than rounding explains, but still small, or gone in the compiled code",
    ROUNDING: "as close to the exact value as eager, within what rounding explains",
    NEARER: "its error is at most half of eager's, or eager alone gives NaN or Inf",
    EXACT: "each element equals eager's",
    NOT_COMPARABLE: "there is nothing to compare it with",
}
"""Verdict → what it means, the worst first."""
GENERATOR_STATE: Final = "it is the state of a random number generator"
"""Why a value that an attention saves for its backward is not comparable. No result of the program depends on it but by
that backward, which is compared.
"""

MULTIPLIER: Final = 2.0
HALF_MULTIPLIER: Final = 3.0
"""`worse than eager` begins at this many times the error of rounding: `same`'s multipliers, for float16 and bfloat16
the larger one.
"""
FEW: Final = 1000
"""With fewer elements than this, the larger one too (`same` again): the error of a few values varies much."""
NEARER_BELOW: Final = 0.5
"""`nearer than eager` ends at this share of eager's error."""
BEYOND_ROUNDING: Final = 32.0
"""`wrong` begins where the error of an element is this many times what rounding makes of it. Not of torch: a sum of n
terms in another order differs by up to √n roundings, in blocks of 1024 by 32.
"""
HALF_BEYOND_ROUNDING: Final = 8.0
"""The same for float16 and bfloat16, in which kernels round their results only and compute in float32: eight roundings
are a twentieth of the largest value in bfloat16. Right kernels of models in bfloat16 stay below 1.
"""
TOLERANCE: Final[dict[str, float]] = {
    "float64": 1e-6,
    "float32": 1.3e-5,
    "bfloat16": 1.6e-2,
    "float16": 1e-3,
    "complex64": 1.3e-5,
    "complex128": 1e-6,
}
"""And this, relative to the exact value of the element or, if that is larger, to the root mean square of all: the
relative tolerance of `torch.testing.assert_close`, tenfold for float32 and float64, as it is not made for long sums.
"""
BEYOND_TYPICAL: Final = 4.0
"""`wrong` begins, too, where what nine of ten elements are off by at most, and the root mean square error, are so many
times what rounding makes of them, if that is rounding to a half type. Kernels round to one less often than eager, and
sum in float32, so that no order of a sum makes more of it: what is several times as far off is so in each element.
"""
FEW_TYPICAL: Final = 64
"""With fewer elements than this, twice as many times."""
NOT_ONCE: Final = 0.03
"""`wrong` begins, too, where this share of a kernel's elements are not the exact value, rounded once, though the kernel
rounds to a half type only what it stores. Of right ones fewer than one of a thousand are not.
"""
SAME_IN_FP64: Final = 1e-4
"""Two graphs that compute the same do so within this in fp64, in the typical element, whatever their types round: the
largest share of it that is left to what passes compute in float32 beforehand.
"""
OTHER_TOLERANCE: Final = 0.125
"""For 8-bit floating types: one unit in the last place of three bits."""
NEAR: Final = 0.8
"""A result that differs from eager's by at most this share of the tolerance is not wrong, whatever is exact."""


def verdict(row: Checked) -> str:
    """The verdict on `row`."""
    found = _verdict(row)
    return WORSE if found == WRONG and row.is_mended else found


def _verdict(row: Checked) -> str:
    if row.reason:
        return NOT_COMPARABLE
    if row.mismatch:
        return WRONG
    if row.is_equal:
        return EXACT
    if row.exact_apart is not None or row.not_once is not None:
        return WRONG
    if row.apart is not None:
        return ROUNDING
    if row.no_exact:
        return _against_eager(row)
    if row.nonfinite_wrong or row.untied or row.unexplained or _is_typically_wrong(row):
        return WRONG
    if row.rmse is None:
        # Integers and truth values differ at ties only; of floating types no element is finite in both values.
        return NOT_COMPARABLE if row.dtype in TOLERANCE or row.dtype.startswith("float8") else ROUNDING
    if row.eager_rmse is None or row.rmse <= NEARER_BELOW * row.eager_rmse:
        return NEARER  # no element of eager's is finite, if it has no error
    multiplier = HALF_MULTIPLIER if row.elements < FEW or row.dtype in _HALF else MULTIPLIER
    is_explained = row.rmse <= multiplier * rounding_error(row)
    return (NEARER if row.eager_alone else ROUNDING) if is_explained else WORSE


def _is_typically_wrong(row: Checked) -> bool:
    """True if all elements are further off than rounding to half types makes them, and by more than the tolerance."""
    if row.typical is None or row.rmse is None:
        return False
    most = BEYOND_TYPICAL * (1 if row.elements >= FEW_TYPICAL else 2)
    is_much = row.dtype in _HALF or row.rmse > tolerance(row.dtype) * (row.exact_rms or 0.0)
    return is_much and row.typical > most and row.rmse > most * rounding_error(row)


def rounding_error(row: Checked) -> float:
    """The root mean square error that rounding makes: eager's, that of noise, or half a unit in the last place."""
    last = _EPSILON.get(row.dtype, OTHER_TOLERANCE) / 2 * (row.exact_rms or 0.0)
    return max(row.eager_rmse or 0.0, row.noise_rmse or 0.0, last)


def beyond(dtype: str) -> float:
    """`BEYOND_ROUNDING` of that dtype."""
    return HALF_BEYOND_ROUNDING if dtype in _HALF else BEYOND_ROUNDING


def tolerance(dtype: str) -> float:
    """`TOLERANCE` of that dtype."""
    return TOLERANCE.get(dtype, OTHER_TOLERANCE)


def is_beyond_all(row: Checked) -> bool:
    """True if the largest error is more than rounding makes of any element, and than the tolerance."""
    error = row.worst_error or 0.0
    explained = max(row.eager_worst_error or 0.0, row.noise_worst or 0.0)
    scale = max(abs(row.exact or 0.0), row.exact_rms or 0.0)
    return error > beyond(row.dtype) * explained and error > tolerance(row.dtype) * scale


def may_be_beyond(row: Checked) -> bool:
    """True if there may be an element whose error is more than the tolerance."""
    return (row.worst_error or 0.0) > tolerance(row.dtype) * (row.exact_rms or 0.0)


def is_near(dtype: str, apart: float, eager_rms: float) -> bool:
    """True if no exact value could make a result wrong: it is finite, as eager's is, and differs from it by `apart` at
    most, which is small beside the root mean square of eager's.

    Of its largest error e, eager's largest E and the multiple b of `is_beyond_rounding`: e ≤ E + apart. If E is at
    least apart / (b - 1), e ≤ b · E, which rounding explains. If not, e < apart · b / (b - 1), which is at most 0.92 of
    the tolerance for b = 8, and the exact value's root mean square differs from eager's by E at most.
    """
    return apart <= NEAR * tolerance(dtype) * eager_rms


def _against_eager(row: Checked) -> str:
    """Without an exact value only a small difference can be judged."""
    if row.rmse is None or row.nonfinite_wrong:
        return NOT_COMPARABLE
    scale = max(abs(row.exact or 0.0), row.exact_rms or 0.0)
    is_small = (row.worst_error or 0.0) <= tolerance(row.dtype) * scale
    return ROUNDING if is_small else NOT_COMPARABLE


_HALF: Final = ("float16", "bfloat16")
_EPSILON: Final = {
    "float64": 2.0**-52,
    "float32": 2.0**-23,
    "bfloat16": 2.0**-7,
    "float16": 2.0**-10,
    "complex64": 2.0**-23,
    "complex128": 2.0**-52,
}
