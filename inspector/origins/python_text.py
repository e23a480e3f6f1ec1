"""Python that torch generated, as a syntax tree: it is never run."""

import ast
import warnings
from collections.abc import Mapping
from typing import Final

from inspect_compile.origins.dtypes import LARGEST

LONGEST: Final = 32 << 20
"""Maximum characters of a text."""
MOST_CODE: Final = 2 << 20
"""Maximum characters of it outside of comments and strings of several lines: a tree takes hundreds of times as much
memory.
"""


class NotReadError(Exception):
    """A text that is not read; says why."""


def parsed(text: str) -> tuple[ast.Module, list[str]]:
    """The tree of `text`, and its lines as the tree counts them; raises NotReadError."""
    if len(text) > LONGEST or _outside_of_strings(text) > MOST_CODE:
        raise NotReadError("it is too long to be read")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        with warnings.catch_warnings():  # a string of C++ has escapes that Python does not know
            warnings.simplefilter("ignore")
            return ast.parse(text), text.split("\n")
    except SyntaxError as error:
        raise NotReadError(f"line {error.lineno} is not Python: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise NotReadError(f"Python cannot parse it: {error or type(error).__name__}") from None


def _outside_of_strings(text: str) -> int:
    """Characters outside of comments and of strings in '''; more where it is not sure that they are in one."""
    count, is_inside = 0, False
    for line in text.split("\n"):
        before, quotes, rest = line.partition("'''")
        if is_inside:
            is_inside, count = not quotes, count + len(rest)
        elif quotes and not before.count("'") % 2 and not any(mark in before for mark in '#"\\'):
            is_inside, count = "'''" not in rest, count + len(before)
        elif not line.lstrip().startswith("#"):
            count += len(line) + 1
    return count


def dotted(node: ast.expr) -> str:
    """`torch.ops.aten.mm.default` of the expression that says so; empty for any other."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def source_of(node: ast.expr, lines: list[str]) -> str:
    """The text of an expression, on one line."""
    first, last = node.lineno, node.end_lineno or node.lineno
    if first == last and lines[first - 1].isascii():  # columns count bytes
        return lines[first - 1][node.col_offset : node.end_col_offset]
    return ast.unparse(node)


def number(node: ast.expr | None, symbols: Mapping[str, int]) -> int | None:
    """The value of a size, symbols at their values in the example; None where that is not known."""
    match node:
        case ast.Constant(value=int(value)) if type(value) is int:
            return value if abs(value) < LARGEST else None
        case ast.Name(id=name):
            return symbols.get(name)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            positive = number(inner, symbols)
            return None if positive is None else -positive
        case ast.BinOp(left=left, op=operator, right=right):
            return _combined(number(left, symbols), operator, number(right, symbols))
        case ast.Call(func=ast.Name(id="max" | "min" as name), args=[_, *_] as arguments):
            values = [number(argument, symbols) for argument in arguments]
            known = [value for value in values if value is not None]
            return None if len(known) < len(values) else max(known) if name == "max" else min(known)
    return None


def _combined(left: int | None, operator: ast.operator, right: int | None) -> int | None:
    if left is None or right is None:
        return None
    match operator:
        case ast.Add():
            result = left + right
        case ast.Sub():
            result = left - right
        case ast.Mult():
            result = left * right
        case ast.FloorDiv() if right:
            result = left // right
        case ast.Mod() if right:
            result = left % right
        case _:
            return None
    return result if abs(result) < LARGEST else None


def numbers(node: ast.expr | None, symbols: Mapping[str, int]) -> tuple[int, ...] | None:
    """The values of a tuple of sizes; None where one is not known."""
    if not isinstance(node, (ast.Tuple, ast.List)):
        return None
    values = [number(element, symbols) for element in node.elts]
    known = tuple(value for value in values if value is not None)
    return known if len(known) == len(values) else None
