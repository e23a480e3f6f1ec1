"""How many different elements of a buffer an index expression reaches as its variables run through their ranges.

Where that is not known exactly the result is a lower bound: a part of the expression that is not understood counts as
constant.
"""

import ast
import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from inspect_compile.graph.indexing.index_text import UnreadableError, parse

_DIVIDING: Final = frozenset({"FloorDiv", "CleanDiv"})
_CUTTING: Final = frozenset({"Mod", "PythonMod"})
_MOST_DIGITS: Final = 16
_MOST: Final = 1 << 62


class Digit(NamedTuple):
    """`(variable // low) % length`."""

    variables: frozenset[str]
    low: int
    length: int
    moved: str = ""
    """The variable's expression, if it does not start at 0."""
    order: tuple[str, ...] = ()
    """Several variables that count together, the fastest first."""


class AccessFootprint(NamedTuple):
    """The set of values `offset` plus each stride times a number below its count."""

    offset: int
    steps: tuple[tuple[int, int], ...]
    """(stride, count), smallest stride first; strides are above 0, counts above 1."""
    is_whole: bool
    """True if the whole expression was understood: it reaches exactly these elements."""
    is_indirect: bool
    """True if it contains a loaded value: which elements it reaches depends on the data."""

    @property
    def span(self) -> int:
        """Distance from the first element to the last."""
        return sum(stride * (count - 1) for stride, count in self.steps)

    @property
    def elements(self) -> int:
        """Lower bound on the number of different elements."""
        found, span, unit = 1, 0, 0
        for stride, count in self.steps:
            if unit and stride % unit == 0 and stride <= span + unit:
                span += stride * (count - 1)  # without gaps so far
                found = span // unit + 1
            elif stride > span:
                unit = stride if found == 1 else 0
                span += stride * (count - 1)
                found *= count
        return found


class _Part(NamedTuple):
    """A sum: a constant, digits with their factors, and names that were not understood."""

    number: int
    digits: tuple[tuple[int, Digit], ...] = ()
    lost: frozenset[str] = frozenset()
    """Names in the parts that were not understood."""
    is_lost: bool = False


def image(text: str, ranges: Mapping[str, int], hints: Mapping[str, int]) -> AccessFootprint:
    """The image of the index `text`, whose variables have these `ranges`, with sizes at their `hints`."""
    try:
        part = _part(parse(text), ranges, hints)
    except (UnreadableError, RecursionError):
        part = _Part(0, is_lost=True)
    known: list[tuple[int, Digit]] = []
    is_whole = not part.is_lost and len(part.digits) <= _MOST_DIGITS
    for group in _groups(part.digits) if len(part.digits) <= _MOST_DIGITS else ():
        kept = [] if any(digit.variables & part.lost for _, digit in group) else _independent(group, ranges)
        is_whole = is_whole and kept == group
        known += kept
    known = [(factor, digit) for factor, digit in known if digit.length > 1]
    offset = part.number + sum(factor * (digit.length - 1) for factor, digit in known if factor < 0)
    steps = sorted((abs(factor), digit.length) for factor, digit in known)
    is_indirect = any(name not in ranges for name in part.lost)
    return AccessFootprint(offset, tuple(steps), is_whole, is_indirect)


def together(images: Iterable[AccessFootprint]) -> int:
    """Lower bound on the number of different elements that the images reach together."""
    counted: list[AccessFootprint] = []
    found = 0
    for one in sorted(set(images), key=lambda one: -one.elements):
        if not counted or all(_are_apart(one, other) for other in counted):
            counted.append(one)
            found += one.elements
    return found


def evaluated(text: str, hints: Mapping[str, int]) -> int | None:
    """A size with its symbols at their hints; None if a symbol has no hint."""
    if text.isdecimal():
        return int(text) if len(text) < 19 else None
    try:
        part = _part(parse(text), {}, hints)
    except (UnreadableError, RecursionError):
        return None
    return None if part.is_lost or part.digits else part.number


def _groups(digits: tuple[tuple[int, Digit], ...]) -> list[list[tuple[int, Digit]]]:
    """Groups the digits by the variables they depend on."""
    found: list[list[tuple[int, Digit]]] = []
    for one in digits:
        group, apart = [one], []
        for other in found:
            if any(digit.variables & own.variables for _, digit in other for _, own in group):
                group = other + group
            else:
                apart.append(other)
        found = [*apart, group]
    return found


def _independent(group: list[tuple[int, Digit]], ranges: Mapping[str, int]) -> list[tuple[int, Digit]]:
    """The digits that can take each of their values whatever the others are; empty if they depend on each other.

    Several digits of one variable are independent if they are digits of one number in mixed radix, each used
    completely.
    """
    if len(group) == 1:
        return group
    if any(digit.moved for _, digit in group) or len({(digit.variables, digit.order) for _, digit in group}) > 1:
        return []
    whole = math.prod(ranges[name] for name in group[0][1].variables)
    in_order = sorted(group, key=lambda one: one[1].low)
    for (_, low), (_, high) in pairwise(in_order):
        if high.low % (low.low * low.length):
            return []
    last = in_order[-1][1]
    most = last._replace(length=min(last.length, whole // last.low))
    if any(low.low * low.length > whole for _, low in in_order[:-1]):
        return []
    return [(factor, most if digit is last else digit) for factor, digit in group]


def _are_apart(one: AccessFootprint, other: AccessFootprint) -> bool:
    """True if it is certain that the two have no element in common."""
    if not (one.is_whole and other.is_whole):
        return False
    if one.offset + one.span < other.offset or other.offset + other.span < one.offset:
        return True
    return one.steps == other.steps and not _reaches(one.steps[::-1], abs(one.offset - other.offset))


def _reaches(steps: tuple[tuple[int, int], ...], distance: int) -> bool:
    """True if `distance` may be the difference of two elements. The steps come largest stride first."""
    if not steps:
        return distance == 0
    stride, count = steps[0]
    rest = sum(step * (many - 1) for step, many in steps[1:])
    if rest >= stride:
        return True
    near = distance // stride
    return any(
        abs(times) < count
        and abs(distance - times * stride) <= rest
        and _reaches(steps[1:], abs(distance - times * stride))
        for times in (near, near + 1)
    )


def _part(node: ast.expr, ranges: Mapping[str, int], hints: Mapping[str, int]) -> _Part:
    def of(inner: ast.expr) -> _Part:
        return _part(inner, ranges, hints)

    match node:
        case ast.Constant(value=int(number)) if abs(number) < _MOST:
            return _Part(int(number))
        case ast.Name(id=name):
            if name in ranges:
                return _Part(0, ((1, Digit(frozenset((name,)), 1, ranges[name])),))
            return _Part(hints[name]) if name in hints else _lost(node)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _scaled(of(operand), -1)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _sum(of(left), of(right))
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _sum(of(left), _scaled(of(right), -1))
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            one, other = of(left), of(right)
            if _is_number(other):
                return _scaled(one, other.number)
            return _scaled(other, one.number) if _is_number(one) else _lost(node)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(power))) if 0 <= power <= 4:
            base = of(left)
            return _small(base.number**power) if _is_number(base) and abs(base.number) < 1 << 32 else _lost(node)
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=right):
            return _cut(node, of(left), of(right), None)
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            return _cut(node, of(left), _Part(1), of(right))
        case ast.Call(func=ast.Name(id="Identity"), args=[only], keywords=[]):
            return of(only)
        case ast.Call(func=ast.Name(id=function), args=[left, right], keywords=[]) if function in _DIVIDING:
            return _cut(node, of(left), of(right), None)
        case ast.Call(func=ast.Name(id=function), args=[left, right], keywords=[]) if function in _CUTTING:
            return _cut(node, of(left), _Part(1), of(right))
        case ast.Call(func=ast.Name(id="ModularIndexing"), args=[left, divisor, modulus], keywords=[]):
            return _cut(node, of(left), of(divisor), of(modulus))
    return _lost(node)


def _lost(node: ast.expr) -> _Part:
    functions = {id(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
    names = (part.id for part in ast.walk(node) if isinstance(part, ast.Name) and id(part) not in functions)
    return _Part(0, (), frozenset(names), True)


def _is_number(part: _Part) -> bool:
    return not part.digits and not part.is_lost


def _small(number: int) -> _Part:
    return _Part(number) if abs(number) < _MOST else _Part(0, is_lost=True)


def _scaled(part: _Part, factor: int) -> _Part:
    if abs(factor) >= _MOST or abs(part.number * factor) >= _MOST:
        return _Part(0, is_lost=True)
    if not factor:
        return _Part(0)
    return part._replace(number=part.number * factor, digits=tuple((own * factor, digit) for own, digit in part.digits))


def _sum(one: _Part, other: _Part) -> _Part:
    factors: dict[Digit, int] = {}
    for factor, digit in (*one.digits, *other.digits):
        factors[digit] = factors.get(digit, 0) + factor
    digits = tuple((factor, digit) for digit, factor in factors.items() if factor)
    return _Part(one.number + other.number, digits, one.lost | other.lost, one.is_lost or other.is_lost)


def _cut(node: ast.expr, part: _Part, divisor: _Part, modulus: _Part | None) -> _Part:
    """`(part // divisor) % modulus`, where `part` takes its values one by one."""
    if not _is_number(divisor) or divisor.number <= 0 or (modulus is not None and not _is_number(modulus)):
        return _lost(node)
    if _is_number(part):
        quotient = part.number // divisor.number
        return _Part(quotient % modulus.number if modulus is not None and modulus.number > 0 else quotient)
    whole = _counting(part)
    if whole is None or (modulus is not None and modulus.number <= 0):
        return _lost(node)
    first = part.number // divisor.number
    length = (part.number + whole.length - 1) // divisor.number - first + 1
    if modulus is not None and first // modulus.number == (first + length - 1) // modulus.number:
        first %= modulus.number
    elif modulus is not None:
        if length < modulus.number:
            return _lost(node)  # it starts in the middle and wraps around
        first, length = 0, modulus.number
    moved = ast.unparse(node) if part.number else whole.moved
    return _Part(first, ((1, Digit(whole.variables, whole.low * divisor.number, length, moved, whole.order)),))


def _counting(part: _Part) -> Digit | None:
    """The single digit that the sum is equal to: itself, or several variables that count like digits of a number."""
    if part.is_lost:
        return None
    if len(part.digits) == 1 and part.digits[0][0] == 1:
        return None if part.number and part.digits[0][1].low > 1 else part.digits[0][1]
    expected = 1
    variables: frozenset[str] = frozenset()
    order: list[str] = []
    for factor, digit in sorted(part.digits, key=lambda one: one[0]):
        if factor != expected or digit.low != 1 or digit.variables & variables or digit.moved:
            return None
        expected *= digit.length
        variables |= digit.variables
        order += digit.order or digit.variables
    return Digit(variables, 1, expected, "", tuple(order))
