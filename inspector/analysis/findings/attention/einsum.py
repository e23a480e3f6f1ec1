"""Matrix products of attention that a program writes with torch.einsum."""

import re
from typing import Final, NamedTuple

import msgspec

from inspect_compile.facts import DynamoNode, Tensor

EINSUM: Final = "einsum"
_EQUATION: Final = re.compile(r"'([a-zA-Z ]{1,200}),([a-zA-Z ]{1,200})->([a-zA-Z ]{1,200})'")
_MATRIX: Final = 2


class _Equation(NamedTuple):
    """The axes of both operands and of the result, a letter each."""

    first: str
    second: str
    result: str


def scores(product: DynamoNode, operands: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor] | None:
    """The query and the key whose scores this is, a row for each query; None if it is none. Their axes are as
    scaled_dot_product_attention has them.
    """
    equation = _equation(product, operands)
    if equation is None or len(equation.result) <= _MATRIX:
        return None
    batch, row, column = equation.result[:-2], equation.result[-2], equation.result[-1]
    summed = set(equation.first) & set(equation.second) - set(equation.result)
    if len(summed) != 1:
        return None
    query, key = f"{batch}{row}{min(summed)}", f"{batch}{column}{min(summed)}"
    both = [(equation.first, operands[0]), (equation.second, operands[1])]
    for one, other in (both, both[::-1]):
        if _is_permuted(one[0], query) and _is_permuted(other[0], key):
            return _ordered(*one, query), _ordered(*other, key)
    return None


def value(product: DynamoNode, operands: tuple[Tensor, Tensor], *, is_second: bool) -> Tensor | None:
    """The value that is weighed here, its axes in the same order; None if it is none. `is_second`: the second operand
    is the weights.
    """
    equation = _equation(product, operands)
    if equation is None:
        return None
    both = [(equation.first, operands[0]), (equation.second, operands[1])]
    (weights, _), (letters, tensor) = both[::-1] if is_second else both
    batch, row, column = weights[:-2], weights[-2:-1], weights[-1:]
    own = set(letters) - set(weights)
    if len(own) != 1:
        return None
    order = f"{batch}{column}{min(own)}"
    is_value = _is_permuted(letters, order) and _is_permuted(equation.result, f"{batch}{row}{min(own)}")
    return _ordered(letters, tensor, order) if is_value else None


def _equation(product: DynamoNode, operands: tuple[Tensor, Tensor]) -> _Equation | None:
    found = _EQUATION.match(product.arguments)
    if found is None or not product.values:
        return None
    equation = _Equation(*(part.replace(" ", "") for part in found.groups()))
    axes = [len(tensor.size) for tensor in (*operands, product.values[0])]
    is_plain = all(len(set(part)) == len(part) == count for part, count in zip(equation, axes, strict=True))
    return equation if is_plain else None


def _is_permuted(letters: str, order: str) -> bool:
    return sorted(letters) == sorted(order)


def _ordered(letters: str, tensor: Tensor, order: str) -> Tensor:
    places = [letters.index(letter) for letter in order]
    return msgspec.structs.replace(
        tensor,
        size=tuple(tensor.size[place] for place in places),
        stride=tuple(tensor.stride[place] for place in places),
    )
