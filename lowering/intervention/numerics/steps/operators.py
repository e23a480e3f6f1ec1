"""What the operations of a loop's body compute, by ATen: of tensors, and of numbers in fp64."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import torch

_SAME: Final = frozenset((
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_left_shift",
    "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "copysign", "cos", "cosh", "eq", "erf",
    "erfc", "erfinv", "exp", "exp2", "expm1", "floor", "fmod", "ge", "gt", "hypot", "isinf", "isnan", "ldexp", "le",
    "lgamma", "log", "log10", "log1p", "log2", "logical_and", "logical_not", "logical_or", "logical_xor", "lt",
    "maximum", "minimum", "mul", "ne", "neg", "nextafter", "pow", "reciprocal", "relu", "remainder", "round", "rsqrt",
    "sigmoid", "sign", "signbit", "sin", "sinh", "sqrt", "square", "sub", "tan", "tanh", "trunc",
))  # fmt: skip
"""Operations of torch's `ops` that ATen has under the same name."""
_OTHER: Final[Mapping[str, Callable[..., Any]]] = {
    "truediv": torch.true_divide,
    "div": torch.true_divide,
    "int_truediv": torch.true_divide,
    "floordiv": torch.floor_divide,
    "truncdiv": lambda one, other: torch.div(one, other, rounding_mode="trunc"),
    "mod": torch.fmod,
    "and_": torch.bitwise_and,
    "or_": torch.bitwise_or,
    "xor": torch.bitwise_xor,
    "lshift": torch.bitwise_left_shift,
    "rshift": torch.bitwise_right_shift,
    "inv": torch.reciprocal,
    "identity": lambda value: value,
    "fma": lambda one, other, third: one * other + third,
    "mul_rn": torch.mul,
    "where": lambda mask, one, other: torch.where(mask.to(torch.bool), one, other),
}
_OF_BITS: Final = frozenset(("and_", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "or_", "xor"))
"""Those of whole numbers."""
_OF_WIDTH: Final = frozenset(("bitwise_left_shift", "bitwise_right_shift", "lshift", "rshift"))
"""Those whose result depends on how many bits a whole number has, which a number does not say."""
_COMBINED: Final[Mapping[str, Callable[[float, float], float]]] = {
    "sum": lambda one, other: one + other,
    "prod": lambda one, other: one * other,
    "max": lambda one, other: math.nan if one != one or other != other else max(one, other),
    "min": lambda one, other: math.nan if one != one or other != other else min(one, other),
    "any": lambda one, other: float(bool(one) or bool(other)),
}
_EXACT: Final = 2.0**53
"""Integers from here on are not all numbers in fp64."""
_INITIAL: Final[Mapping[str, float]] = {"sum": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf, "any": 0.0}
_BOUNDED: Final = ("max", "min")
"""Reductions whose initial value is the end of the dtype's range, which integers have without infinity."""


def operation(name: str) -> Callable[..., Any] | None:
    """The function of tensors that the operation `name` of torch's `ops` is; None for one that is not known here."""
    return getattr(torch, name) if name in _SAME else _OTHER.get(name)


def computed(name: str, given: Sequence[Any]) -> float | None:
    """The value of the operation `name` of these operands, rounded to fp64; None for one that is not known here.

    Operands are numbers, or dtypes, as torch's `ops` take them.
    """
    if name in ("to_dtype", "identity", "constant"):
        dtype = next((one for one in given if isinstance(one, torch.dtype)), torch.float64)
        return _converted(given[0], dtype)
    if name == "where":
        return None if given[0] is None else _as_number(given[1] if given[0] else given[2])
    function = None if name in _OF_WIDTH else operation(name)
    if function is None or not all(isinstance(one, (float, int, bool)) for one in given):
        return None
    kind = torch.int64 if name in _OF_BITS else torch.float64
    with torch.no_grad():
        value = float(function(*(torch.tensor(one, dtype=kind, device="cpu") for one in given)))
    return None if kind is torch.int64 and abs(value) >= _EXACT else value


def combined(kind: str, one: float, other: float) -> float | None:
    """One step of a reduction; None for a kind that is not known here."""
    step = _COMBINED.get(kind)
    return None if step is None else step(one, other)


def initial(kind: str, dtype: Any) -> float | None:
    """What a reduction begins with; None if it is not known here."""
    if kind in _BOUNDED and (not isinstance(dtype, torch.dtype) or not dtype.is_floating_point):
        return None
    return _INITIAL.get(kind)


def _as_number(value: Any) -> float | None:
    return float(value) if isinstance(value, (float, int, bool)) else None


def _converted(value: Any, dtype: torch.dtype) -> float | None:
    if not isinstance(value, (float, int, bool)) or dtype.is_floating_point:
        return _as_number(value)
    if dtype is torch.bool:
        return float(value != 0)
    return float(math.trunc(value)) if math.isfinite(value) else None
