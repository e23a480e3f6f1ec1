"""Numbers in narrower types, and the functions of one and two operands that statements compute: without torch."""

import math
import operator
import struct
from collections.abc import Callable, Mapping
from typing import Final


def rounded(value: float, dtype: str) -> float:
    """The nearest number of a dtype, with ties to even; infinite beyond its largest. Other dtypes leave the value."""
    if not math.isfinite(value):
        return value
    try:
        if dtype == "bfloat16":
            (bits,) = struct.unpack("<I", struct.pack("<f", value))
            bits += 0x7FFF + ((bits >> 16) & 1)
            return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0])
        if dtype in _FORMATS:
            return float(struct.unpack(_FORMATS[dtype], struct.pack(_FORMATS[dtype], value))[0])
    except (OverflowError, struct.error):
        return math.copysign(math.inf, value)
    return value


_FORMATS: Final = {"float32": "<f", "float16": "<e"}

UNARY: Final[Mapping[str, Callable[[float], float]]] = {
    "abs": abs,
    "neg": operator.neg,
    "exp": math.exp,
    "expm1": math.expm1,
    "log": math.log,
    "log1p": math.log1p,
    "sqrt": math.sqrt,
    "rsqrt": lambda one: 1 / math.sqrt(one),
    "reciprocal": lambda one: 1 / one,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "tanh": math.tanh,
    "erf": math.erf,
    "sigmoid": lambda one: 1 / (1 + math.exp(-one)),
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "logical_not": operator.not_,
}
BINARY: Final[Mapping[str, Callable[[float, float], float]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "maximum": max,
    "minimum": min,
    "pow": operator.pow,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "logical_and": lambda one, other: bool(one) and bool(other),
    "logical_or": lambda one, other: bool(one) or bool(other),
}


def computed(name: str, *operands: float) -> float | None:
    """What an operation gives; None for one that is not known here, or that has no value."""
    table: Mapping[str, Callable[..., float]] = UNARY if len(operands) == 1 else BINARY
    function = table.get(name)
    if function is None or len(operands) > len(("one", "other")):
        return None
    try:
        found = function(*operands)
        return None if isinstance(found, complex) else float(found)
    except (ArithmeticError, ValueError):
        return None
