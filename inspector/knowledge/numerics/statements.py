"""When the value of one statement of a kernel is wrong, from the values of its operands."""

import math
from typing import Final

from inspect_compile.knowledge.numerics.formats import EPSILON, LARGEST, SMALLEST

ROUNDINGS: Final = 64.0
"""A statement is wrong where it differs from the exact value of its operation by more than so many roundings of its
dtype. Arithmetic makes half a one, the vectorized functions of SLEEF that torch uses are specified to be within 3.5;
the rest is for operations that are put together of several (sigmoid, pow).
"""
NODE_ROUNDINGS: Final = 65536.0
"""The same for the value of an FX node, which many statements may compute, of values that were rounded before."""


def is_wrong(value: float, expected: float, dtype: str, *, operands: float = 0.0, roundings: float = ROUNDINGS) -> bool:
    """True if rounding does not explain how far a value is from what it is to be. NaN is equal to NaN.

    `operands`: a magnitude of which two roundings are allowed, too; for a sum, the largest of what is added. A compiler
    may leave out the rounding of a product that is added to something, and where little is left of both, it counts.
    """
    if value == expected or (math.isnan(value) and math.isnan(expected)):
        return False
    epsilon = EPSILON.get(dtype)
    if epsilon is None:  # an integer or a truth value
        return True
    if not (math.isfinite(value) and math.isfinite(expected)):
        largest = LARGEST.get(dtype, math.inf)
        overflows = abs(expected) > largest and math.isinf(value) and (value > 0) == (expected > 0)
        return not overflows
    return abs(value - expected) > epsilon * (roundings * abs(expected) + 2 * operands) + SMALLEST[dtype]
