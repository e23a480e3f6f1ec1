"""Parses index expressions as torch writes them, `c1 + 32*((c0//4))`, into sums of products. Executes nothing."""

import ast
from collections.abc import Mapping
from typing import Final, NamedTuple

LONGEST: Final = 4_000
"""Maximum length of an expression that is parsed, in characters."""
_MOST_TERMS: Final = 200
_HIGHEST_POWER: Final = 4
_LARGEST: Final = 1 << 128
_CUTTING: Final = frozenset({"FloorDiv", "CleanDiv", "CeilDiv", "ModularIndexing", "Mod", "PythonMod"})
_OTHER: Final = frozenset({"Min", "Max"})

Monomial = tuple[str, ...]
"""Sorted factors: names, and divisions and similar expressions as text."""
Sum = dict[Monomial, int]
"""Product → coefficient: `2*c0*s1 + 3` is {("c0", "s1"): 2, (): 3}."""


class UnreadableError(Exception):
    """The text is not one of the few kinds of expression that are supported."""


class Term(NamedTuple):
    """One term of the outermost sum."""

    start: int
    end: int
    tree: ast.expr
    names: frozenset[str]
    is_cut: bool
    """True if it contains a division or a remainder."""


def parse(text: str) -> ast.expr:
    """The expression tree, of names, integers, sums, products, divisions, remainders and torch's functions for them."""
    if len(text) > LONGEST:
        raise UnreadableError
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadableError from error
    return tree


def terms(text: str) -> list[Term]:
    """The terms of the outermost sum of `text`, with their positions in the text."""
    indent = len(text) - len(text.lstrip())
    found = []
    for part in _summands(parse(text)):
        start, end = indent + part.col_offset, indent + (part.end_col_offset or part.col_offset)
        names = frozenset(node.id for node in ast.walk(part) if isinstance(node, ast.Name))
        found.append(Term(start, end, part, names, _is_cut(part)))
    return found


def value(node: ast.expr, names: Mapping[str, Sum] | None = None) -> Sum:
    """The expression as a sum of products; `names` gives values to some of the names."""
    try:
        return _value(node, names or {})
    except RecursionError as error:
        raise UnreadableError from error


def plus(one: Sum, other: Sum) -> Sum:
    """The sum of two sums."""
    found = dict(one)
    for product, count in other.items():
        found[product] = found.get(product, 0) + count
    if len(found) > _MOST_TERMS or any(abs(count) > _LARGEST for count in found.values()):
        raise UnreadableError
    return {product: count for product, count in found.items() if count}


def times(one: Sum, other: Sum) -> Sum:
    """The product of two sums."""
    found: Sum = {}
    for left, many in one.items():
        for right, more in other.items():
            found = plus(found, {tuple(sorted(left + right)): many * more})
    return found


def number(found: Sum) -> int | None:
    """The value if the sum is a constant, otherwise None."""
    if not found:
        return 0
    return found[()] if list(found) == [()] else None


def written(found: Sum) -> str:
    """The sum as text, the same for all that are equal."""
    parts = []
    for product, count in sorted(found.items()):
        factors = ([] if count == 1 and product else [str(count)]) + list(product)
        parts.append("*".join(factors))
    return " + ".join(parts) or "0"


def _summands(node: ast.expr) -> list[ast.expr]:
    found, waiting = [], [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Add, ast.Sub)):
            waiting += [part.right, part.left]
        else:
            found.append(part)
    return found


def _is_cut(node: ast.expr) -> bool:
    return any(
        (isinstance(part, ast.BinOp) and isinstance(part.op, (ast.FloorDiv, ast.Mod)))
        or (isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in _CUTTING)
        for part in ast.walk(node)
    )


def _value(node: ast.expr, names: Mapping[str, Sum]) -> Sum:
    match node:
        case ast.Constant(value=int(constant)):
            return plus({}, {(): int(constant)})
        case ast.Name(id=name):
            return names.get(name, {(name,): 1})
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return times({(): -1}, _value(operand, names))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return plus(_value(left, names), _value(right, names))
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return plus(_value(left, names), times({(): -1}, _value(right, names)))
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return times(_value(left, names), _value(right, names))
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(power))) if 0 <= power <= _HIGHEST_POWER:
            base = _value(left, names)
            found: Sum = {(): 1}
            for _ in range(power):
                found = times(found, base)
            return found
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=right):
            return _divided(_value(left, names), _value(right, names))
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            return _remainder(_value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id=function), args=arguments, keywords=[]):
            return _called(function, [_value(argument, names) for argument in arguments])
    raise UnreadableError


def _called(function: str, arguments: list[Sum]) -> Sum:
    match function, arguments:
        case "Identity", [only]:
            return only
        case (("FloorDiv" | "CleanDiv"), [left, right]):
            return _divided(left, right)
        case (("Mod" | "PythonMod"), [left, right]):
            return _remainder(left, right)
        case "ModularIndexing", [left, divisor, modulus]:
            return _remainder(_divided(left, divisor), modulus)
    if function not in _CUTTING | _OTHER:
        raise UnreadableError
    return {(f"{function}({', '.join(map(written, arguments))})",): 1}


def _divided(left: Sum, right: Sum) -> Sum:
    one, other = number(left), number(right)
    if other == 1 or one == 0:
        return left
    if one is not None and other:
        return {(): one // other} if one // other else {}
    return {(f"({written(left)})//({written(right)})",): 1}


def _remainder(left: Sum, right: Sum) -> Sum:
    one, other = number(left), number(right)
    if one == 0 or other == 1:
        return {}
    if one is not None and other:
        return {(): one % other} if one % other else {}
    return {(f"({written(left)})%({written(right)})",): 1}
