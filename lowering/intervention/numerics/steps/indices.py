"""Index expressions of torch's loops, with tensors for the loops' variables."""

import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import sympy
import torch


class NotKnownError(ValueError):
    """An operation, or a part of an expression, that is not known here."""


def _modular(base: Any, divisor: Any, modulus: Any) -> Any:
    return (base // divisor) % modulus


def _chosen(condition: Any, one: Any, other: Any) -> Any:
    if isinstance(condition, torch.Tensor):
        return torch.where(condition, _tensor(one), _tensor(other))
    return one if condition else other


def _least(*values: Any) -> Any:
    return functools.reduce(lambda one, other: torch.minimum(_tensor(one), _tensor(other)), values)


def _largest(*values: Any) -> Any:
    return functools.reduce(lambda one, other: torch.maximum(_tensor(one), _tensor(other)), values)


_KEPT: Final = 4096
"""Expressions about which what sympy found out is kept: asking it takes longer than a small loop."""
_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "Add": lambda *values: functools.reduce(operator.add, values),
    "Mul": lambda *values: functools.reduce(operator.mul, values),
    "Pow": operator.pow,
    "PowByNatural": operator.pow,
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "ModularIndexing": _modular,
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "Identity": lambda value: value,
    "Where": _chosen,
    "Min": _least,
    "Max": _largest,
    "Equality": operator.eq,
    "Unequality": operator.ne,
    "StrictLessThan": operator.lt,
    "LessThan": operator.le,
    "StrictGreaterThan": operator.gt,
    "GreaterThan": operator.ge,
    "And": operator.and_,
    "Or": operator.or_,
}
"""Class of a sympy expression → what it computes. Indices and sizes are not negative where they are divided."""


def evaluated(expression: Any, values: Mapping[Any, Any]) -> Any:
    """A number or a tensor; `values`: variable → its value. Raises NotKnownError."""
    if isinstance(expression, (int, float)):
        return expression
    if expression in values:
        return values[expression]
    if expression.is_Integer:
        return int(expression)
    if expression.is_Number:
        return float(expression)
    function = _FUNCTIONS.get(type(expression).__name__)
    if function is None:
        raise NotKnownError(f"{type(expression).__name__} in an index")
    return function(*(evaluated(one, values) for one in expression.args))


@functools.lru_cache(maxsize=_KEPT)
def parted(index: Any, variables: frozenset[sympy.Symbol]) -> tuple[Any, Any]:
    """The terms of a sum with some of these variables, and those with none; None for no terms."""
    terms: tuple[list[Any], list[Any]] = [], []
    for term in index.args if isinstance(index, sympy.Add) else (index,):
        terms[variables.isdisjoint(getattr(term, "free_symbols", ()))].append(term)
    some, none = (sympy.Add(*each) if len(each) > 1 else next(iter(each), None) for each in terms)
    return some, none


@functools.lru_cache(maxsize=_KEPT)
def strides(index: Any, variables: tuple[sympy.Symbol, ...]) -> tuple[tuple[int, ...], int] | None:
    """The strides and the offset of an index that is a sum of multiples of these variables; None if it is not."""
    found = _terms(index, variables)
    if found is not None:
        return found
    index = sympy.sympify(index)
    if not index.free_symbols <= set(variables):
        return None
    offset = index.subs(dict.fromkeys(variables, 0))
    steps = [index.subs({one: int(one is variable) for one in variables}) - offset for variable in variables]
    if not all(one.is_Integer for one in (offset, *steps)):
        return None
    rest = index - offset - sum(stride * variable for stride, variable in zip(steps, variables, strict=True))
    return (tuple(map(int, steps)), int(offset)) if sympy.expand(rest) == 0 else None


def _terms(index: Any, variables: Sequence[sympy.Symbol]) -> tuple[tuple[int, ...], int] | None:
    """The same for a sum that is written out, as most are: sympy takes a hundred times as long to find that out."""
    steps, offset = dict.fromkeys(variables, 0), 0
    for term in index.args if isinstance(index, sympy.Add) else (index,):
        factors = term.args if isinstance(term, sympy.Mul) else (term,)
        numbers = [int(one) for one in factors if isinstance(one, (int, sympy.Integer))]
        others = [one for one in factors if one in steps]
        if len(numbers) + len(others) != len(factors) or len(others) > 1:
            return None
        if others:
            steps[others[0]] += math.prod(numbers)
        else:
            offset += math.prod(numbers)
    return tuple(steps.values()), offset


def _tensor(value: Any) -> torch.Tensor:
    return value if isinstance(value, torch.Tensor) else torch.tensor(value)
