"""What an operation of a loop's body is to give, and when a statement that gives something else is wrong."""

import math
from typing import Any

import pytest
import torch

from inspect_compile.analysis.numerics.rounded import BINARY, UNARY
from inspect_compile.analysis.numerics.rounded import computed as alternative
from inspect_compile.knowledge.numerics.statements import is_wrong
from inspect_compile.lowering.intervention.numerics.steps.operators import combined, computed, initial


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("sub", (3.0, 5.0), -2.0),
        ("truediv", (1.0, 4.0), 0.25),
        ("where", (1.0, 2.0, 3.0), 2.0),
        ("where", (0.0, 2.0, 3.0), 3.0),
        ("where", (None, 2.0, 3.0), None),
        ("to_dtype", (2.7, torch.int64), 2.0),
        ("to_dtype", (2.7, torch.bool), 1.0),
        ("to_dtype", (2.7, torch.bfloat16), 2.7),
        ("constant", (0.5, torch.float32), 0.5),
        ("le", (1.0, 1.0), 1.0),
        ("bitwise_and", (6.0, 3.0), 2.0),
        ("and_", (1.0, 0.0), 0.0),
        ("xor", (6.0, 3.0), 5.0),
        ("mod", (-7.0, 3.0), -1.0),
        ("bitwise_left_shift", (6.0, 3.0), None),
        ("add", (None, 1.0), None),
        ("masked", (1.0, 1.0), None),
    ],
)
def test_operations(name: str, given: tuple[Any, ...], expected: float | None) -> None:
    assert computed(name, given) == expected


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
@pytest.mark.parametrize("given", [(0.25, 3.0), (3.0, 0.25), (-2.5, 2.0), (0.0, 1.0), (1.0, 1.0)])
def test_the_operations_that_a_kind_of_error_is_found_by(name: str, given: tuple[float, float]) -> None:
    """They are computed without torch there, where they have a value."""
    operands = given[: 1 if name in UNARY else 2]
    value = alternative(name, *operands)

    assert value is None or value == pytest.approx(computed(name, operands), rel=1e-15)


def test_reductions() -> None:
    assert combined("sum", 1.0, 2.0) == 3.0
    assert combined("max", 1.0, math.nan) != combined("max", 1.0, 2.0)
    assert combined("welford_reduce", 1.0, 2.0) is None
    assert initial("max", torch.float32) == -math.inf
    assert initial("max", torch.int64) is None


@pytest.mark.parametrize(
    ("value", "expected", "dtype", "operands", "said"),
    [
        (1.0, 1.0 + 1e-7, "float32", 0.0, False),
        (1.0, 1.0 + 1e-4, "float32", 0.0, True),
        (1.0, 1.0 + 1e-4, "bfloat16", 0.0, False),
        (math.nan, math.nan, "float32", 0.0, False),
        (math.nan, 1.0, "float32", 0.0, True),
        (math.inf, 1e39, "float32", 0.0, False),
        (math.inf, 1e30, "float32", 0.0, True),
        (0.0, 1e-40, "float32", 0.0, False),
        (1.0, 0.0, "bool", 0.0, True),
        # What is left of two numbers that cancel each other is as exact as they were.
        (1e-7, 2e-7, "float32", 1.0, False),
        (1e-7, 2e-7, "float32", 0.0, True),
    ],
)
def test_what_rounding_explains(value: float, expected: float, dtype: str, operands: float, said: bool) -> None:
    assert is_wrong(value, expected, dtype, operands=operands) is said
