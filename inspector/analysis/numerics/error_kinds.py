"""Which kind of error a statement of a kernel makes, from the values that it had."""

import math
import re
from collections.abc import Mapping
from typing import Final

import msgspec

from inspect_compile.analysis.numerics.rounded import BINARY, UNARY, computed, rounded
from inspect_compile.facts import StatementValue
from inspect_compile.knowledge.numerics import error_kinds as kinds
from inspect_compile.knowledge.numerics.error_kinds import Approximation
from inspect_compile.knowledge.numerics.formats import EPSILON
from inspect_compile.knowledge.numerics.statements import is_wrong

_OTHER: Final = re.compile(r"\bother=(-?[\d.]+(?:e-?\d+)?)")
_COMMUTATIVE: Final = ("add", "mul", "maximum", "minimum", "eq", "ne", "logical_and", "logical_or")
_OF_OPERANDS: Final = ("maximum", "minimum", "reduction.max", "reduction.min", *kinds.MIRRORED)
"""Operations whose right value is an operand, or can be one by chance."""
_STEPS: Final = ("reduction.sum", "atomic_add")
_PAIR, _CHOICE = 2, 3


class ErrorKind(msgspec.Struct, frozen=True, kw_only=True):
    """What a statement did, in the place of or beside its operation."""

    kind: str
    """One of `knowledge.numerics.error_kinds.KINDS`."""
    other: str = ""
    """The type that was rounded to, the operation, the buffer, or the approximation."""
    amount: float | None = None
    """How many elements further on in memory was read; how many bits cancel; how many units in the last place a value
    is off.
    """


def of_wrong(row: StatementValue, text: str) -> ErrorKind:
    """Of a statement whose value is wrong. `text` is the statement."""
    value, expected = float(row.value), float(row.expected)
    numbers = [float(one.value) for one in row.operands]
    if row.operator == "load":
        return _of_load(row, text, value)
    if row.operator == "constant":
        return ErrorKind(kind=kinds.CONSTANT)
    if row.operator.startswith("reduction") and not numbers and not row.terms:
        return ErrorKind(kind=kinds.INITIAL)
    if row.terms and _is_in_order(row, value, expected):
        return ErrorKind(kind=kinds.ORDER)
    for narrower in kinds.NARROWER.get(row.dtype, ()):
        if value in (rounded(expected, narrower), rounded(rounded(expected, row.dtype), narrower)):
            return ErrorKind(kind=kinds.NARROWED, other=narrower)
    if row.operator in _STEPS and len(numbers) == _PAIR:
        before, added = numbers
        if added and value == before:
            return ErrorKind(kind=kinds.SKIPPED)
        if _same(value, before + 2 * added, row.dtype):
            return ErrorKind(kind=kinds.TWICE)
    return _of_operation(row, value, expected, numbers)


def of_right(row: StatementValue, error: float | None, rows: Mapping[str, StatementValue]) -> ErrorKind | None:
    """What a statement whose value is explained by rounding did about errors, if that is worth a word. `error` is how
    far its value is from the exact one, as a part of that; `rows` are the statements before it by their variables.
    """
    if not row.value or not row.expected:
        return None
    value, expected = float(row.value), float(row.expected)
    numbers = [float(one.value) for one in row.operands]
    if row.terms and rounded(expected, row.dtype) != value and _is_in_order(row, value, expected):
        return ErrorKind(kind=kinds.ORDER, amount=_ulps(value, expected, row.dtype))
    if row.operator in ("add", "sub") and len(numbers) == _PAIR and all(map(math.isfinite, numbers)):
        size = sum(map(abs, numbers))
        bits = math.log2(size / abs(expected)) if expected and size else 0.0
        if bits >= kinds.CANCELLED_BITS and error:
            return ErrorKind(kind=kinds.CANCELLATION, amount=bits)
        if _is_fused(row, value, numbers, rows):
            return ErrorKind(kind=kinds.FUSED)
    if row.operator == "to_dtype" and row.dtype in ("bfloat16", "float16") and rounded(value, row.dtype) != value:
        return ErrorKind(kind=kinds.NOT_NARROWED, other=row.dtype)
    ulps = _ulps(value, expected, row.dtype)
    if row.dtype != "float32" or ulps <= 1.0:
        return None
    if row.operator == "truediv" and len(numbers) == _PAIR and numbers[1]:
        by_reciprocal = rounded(numbers[0] * rounded(1 / numbers[1], row.dtype), row.dtype) == value
        return ErrorKind(kind=kinds.DIVISION, other="reciprocal" if by_reciprocal else "", amount=ulps)
    return _approximation(row.operator, value, expected, numbers)


def _of_load(row: StatementValue, text: str, value: float) -> ErrorKind:
    other = _OTHER.search(text)
    if other is not None and value == float(other[1]):
        return ErrorKind(kind=kinds.MASK)
    if row.element is not None and row.read is not None:
        return ErrorKind(kind=kinds.INDEX, amount=float(row.read - row.element))
    if row.read_from:
        return ErrorKind(kind=kinds.BUFFER, other=row.read_from)
    return ErrorKind(kind=kinds.UNINITIALISED if math.isnan(value) else kinds.UNKNOWN)


def _of_operation(row: StatementValue, value: float, expected: float, numbers: list[float]) -> ErrorKind:
    if row.operator == "where" and len(numbers) == _CHOICE:
        other = numbers[2] if numbers[0] else numbers[1]
        return ErrorKind(kind=kinds.CHOICE if value == other else kinds.UNKNOWN)
    if len(numbers) == _PAIR and row.operator not in _COMMUTATIVE:
        exchanged = computed(row.operator, *reversed(numbers))
        if exchanged is not None and row.operator not in kinds.MIRRORED and _same(value, exchanged, row.dtype):
            return ErrorKind(kind=kinds.SWAPPED)
    if (found := _approximation(row.operator, value, expected, numbers)) is not None:
        return found
    neutral = kinds.NEUTRAL.get(row.operator, "")
    given = computed(neutral, *numbers) if len(numbers) == _PAIR else None
    if given is not None and _same(value, given, row.dtype):
        return ErrorKind(kind=kinds.OPERATION, other=neutral)
    at = next((at for at, one in enumerate(numbers) if _same(value, one, row.dtype)), None)
    if at is not None and row.operator not in _OF_OPERANDS:
        return ErrorKind(kind=kinds.OPERAND, other=row.operands[at].variable)
    names = [kinds.MIRRORED.get(row.operator, ""), *(UNARY if len(numbers) == 1 else BINARY)]
    instead = row.operator.removeprefix("reduction.")
    for name in names if len(numbers) in (1, _PAIR) else ():
        given = computed(name, *numbers) if name not in ("", instead) else None
        if given is not None and _same(value, given, row.dtype):
            is_sign = name == "neg" and row.operator != "neg"
            return ErrorKind(kind=kinds.SIGN) if is_sign else ErrorKind(kind=kinds.OPERATION, other=name)
    return ErrorKind(kind=kinds.SIGN if expected and _same(value, -expected, row.dtype) else kinds.UNKNOWN)


def _same(value: float, other: float, dtype: str) -> bool:
    return not is_wrong(value, other, dtype, roundings=kinds.SAME_ROUNDINGS)


def _ulps(value: float, expected: float, dtype: str) -> float:
    """How many units in the last place a value is off; 0 where that says nothing."""
    epsilon = EPSILON.get(dtype)
    if epsilon is None or not expected or not (math.isfinite(value) and math.isfinite(expected)):
        return 0.0
    return abs(value - expected) / (epsilon * 2.0 ** math.floor(math.log2(abs(expected))))


def _is_in_order(row: StatementValue, value: float, expected: float) -> bool:
    """True within the bound of a sum in any order: n u sum|x| (Higham, section 4.2, to first order)."""
    return abs(value - expected) <= row.terms * EPSILON.get(row.dtype, 0.0) / 2 * float(row.magnitude)


def _is_fused(row: StatementValue, value: float, numbers: list[float], rows: Mapping[str, StatementValue]) -> bool:
    """True if the value is that of a product which was not rounded, and not that of one which was."""
    sign = -1.0 if row.operator == "sub" else 1.0
    for at, operand in enumerate(row.operands):
        product = rows.get(operand.variable)
        if row.dtype != "float32" or product is None or product.operator != "mul" or not product.expected:
            continue
        exact = float(product.expected)  # of two numbers in float32, fp64 has the whole product
        pair = (exact, numbers[1]) if at == 0 else (numbers[0], exact)
        fused = rounded(pair[0] + sign * pair[1], "float32")
        if value == fused != rounded(numbers[0] + sign * numbers[1], "float32"):
            return True
    return False


def _approximation(name: str, value: float, expected: float, numbers: list[float]) -> ErrorKind | None:
    size = abs(numbers[0]) if numbers else 0.0
    if not (math.isfinite(value) and math.isfinite(expected)):
        return None
    for one in kinds.APPROXIMATIONS.get(name, ()):
        if abs(value - expected) <= _bound(one, expected, size):
            return ErrorKind(kind=kinds.APPROXIMATION, other=one.name, amount=_ulps(value, expected, "float32"))
    return None


def _bound(one: Approximation, expected: float, size: float) -> float:
    ulp = EPSILON["float32"] * 2.0 ** math.floor(math.log2(abs(expected))) if expected else 0.0
    ulps = one.ulps + math.floor(one.ulps_for_each * size)
    return max(ulps * ulp, one.relative * abs(expected), one.absolute)
