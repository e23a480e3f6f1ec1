"""What kinds of errors one statement of a kernel makes, and from where on a kind is named.

Sources: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition (SIAM 2002); M. Abramowitz and I. A.
Stegun, Handbook of Mathematical Functions; the documentation of SLEEF and of CUDA's math functions.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

NOT_WRITTEN: Final = "not written"
LEFT_OUT: Final = "range"
STORED_ELSEWHERE: Final = "store index"
OTHER_VARIABLE: Final = "other variable"
OTHER_NODE: Final = "lowering"
INDEX: Final = "index"
BUFFER: Final = "buffer"
MASK: Final = "mask"
UNINITIALISED: Final = "uninitialised"
CONSTANT: Final = "constant"
INITIAL: Final = "initial value"
SKIPPED: Final = "step left out"
TWICE: Final = "added twice"
NARROWED: Final = "extra rounding"
NOT_NARROWED: Final = "cast dropped"
SIGN: Final = "sign"
SWAPPED: Final = "swapped"
CHOICE: Final = "choice"
OPERATION: Final = "operation"
OPERAND: Final = "operand"
APPROXIMATION: Final = "approximation"
DIVISION: Final = "division"
FUSED: Final = "fused"
ORDER: Final = "order"
CANCELLATION: Final = "cancellation"
UNKNOWN: Final = "not known"
KINDS: Final[Mapping[str, str]] = {
    NOT_WRITTEN: "no statement stores the element",
    LEFT_OUT: "a loop, or a condition on its variable, leaves out a part of the range",
    STORED_ELSEWHERE: "a correct value is stored as another element",
    OTHER_VARIABLE: "another variable is stored",
    OTHER_NODE: "each statement is what was generated, and that is not what the FX node is",
    INDEX: "another element of the same buffer was read",
    BUFFER: "the same element of another buffer was read",
    MASK: "the load gave the value for elements that its mask leaves out",
    UNINITIALISED: "NaN was read, which the check puts into memory that the launch has to write",
    CONSTANT: "another constant",
    INITIAL: "a reduction begins with another value",
    SKIPPED: "a step of a reduction, or an addition to memory, is missing",
    TWICE: "a step of a reduction, or an addition to memory, is done twice",
    NARROWED: "the value is correct, but rounded to a narrower type",
    NOT_NARROWED: "the value does not fit the type that it is to be rounded to",
    SIGN: "the correct value with the opposite sign",
    SWAPPED: "the operation with its operands swapped",
    CHOICE: "the other one of two values was chosen",
    OPERATION: "another operation of the same operands",
    OPERAND: "one of the operands: the operation is missing",
    APPROXIMATION: "within the error of an approximation of the function",
    DIVISION: "a quotient that is not rounded correctly",
    FUSED: "a product is added without rounding it first (FMA)",
    ORDER: "a sum in another order",
    CANCELLATION: "cancellation: the difference of nearly equal operands keeps the errors of both",
    UNKNOWN: "no rule explains it",
}
"""Kind → what it is."""

CANCELLED_BITS: Final = 10.0
"""A sum or difference cancels if its operands agree in so many bits: if its condition number (|a| + |b|) / |a + b|,
by which relative errors of the operands grow (Higham, section 1.7), is at least 2 to the power of this.
"""
SAME_ROUNDINGS: Final = 2.0
"""Two values are the same, to tell what a statement computed instead, within so many roundings of its dtype."""
NARROWER: Final[Mapping[str, tuple[str, ...]]] = {
    "float64": ("float32", "bfloat16", "float16"),
    "float32": ("bfloat16", "float16"),
}
"""Types that a value of a dtype may have been rounded to."""
MIRRORED: Final[Mapping[str, str]] = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq"}
"""The comparison that differs where the operands are equal."""
NEUTRAL: Final[Mapping[str, str]] = {"mul": "add", "add": "mul", "sub": "mul"}
"""The operation that gives one operand where the other is 0 or 1, and this one is wrong. It is named where both explain
a value: an operation that is left out could have left either operand, the right one among them.
"""


class Approximation(NamedTuple):
    """A function that computes an operation not exactly, and how far off it may be."""

    name: str
    ulps: float = 0.0
    """Units in the last place of float32."""
    ulps_for_each: float = 0.0
    """So many more for each unit of the operand's magnitude."""
    relative: float = 0.0
    absolute: float = 0.0


_SLEEF_10: Final = Approximation("SLEEF's function of 1.0 ULP", ulps=1.0)
_SLEEF_35: Final = Approximation("SLEEF's function of 3.5 ULP", ulps=3.5)
APPROXIMATIONS: Final[Mapping[str, tuple[Approximation, ...]]] = {
    "exp": (_SLEEF_10, Approximation("CUDA's __expf", ulps=2.0, ulps_for_each=1.173)),
    "log": (_SLEEF_10,),
    "tanh": (_SLEEF_10, Approximation("CUDA's __tanhf (tanh.approx)", relative=2.0**-11)),
    "sin": (_SLEEF_35,),
    "cos": (_SLEEF_35,),
    "erf": (Approximation("the polynomial 7.1.26 of Abramowitz and Stegun", absolute=1.5e-7),),
    "rsqrt": (
        Approximation("CUDA's rsqrtf", ulps=2.0),
        Approximation("x86's rsqrtps", relative=1.5 * 2.0**-12),
    ),
    "truediv": (Approximation("CUDA's __fdividef (div.full)", ulps=2.0),),
}
"""Operation → what torch and its compilers may compute it with, the nearest first. Of torch's C++ kernels
`ATen/cpu/vec/vec256/vec256_float.h`, of CUDA the programming guide's tables of mathematical functions, of x86 Intel's
intrinsics guide.
"""
