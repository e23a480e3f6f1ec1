"""The kind of error that a statement makes, from the values that it had: a rule for each, and none where none holds."""

import math
from typing import Any

import pytest

from inspect_compile.analysis.numerics.error_kinds import ErrorKind, of_right, of_wrong
from inspect_compile.analysis.numerics.rounded import rounded
from inspect_compile.facts import StatementOperand, StatementValue
from inspect_compile.knowledge.numerics import error_kinds as kinds
from inspect_compile.tables.numerics.error_kinds import sentence


def statement(
    operator: str, value: float, expected: float, *operands: float, dtype: str = "float32", **more: Any
) -> StatementValue:
    given = tuple(StatementOperand(f"tmp{at}", str(one)) for at, one in enumerate(operands))
    return StatementValue(7, operator, "node", str(value), str(expected), "", True, dtype=dtype, operands=given, **more)


def narrow(value: float) -> float:
    return rounded(value, "float32")


WRONG = [
    (statement("constant", 0.7778, 0.7071), kinds.CONSTANT, ""),
    (statement("mul", 8.0, 15.0, 3.0, 5.0), kinds.OPERATION, "add"),
    (statement("add", -2.0, 8.0, 3.0, 5.0), kinds.OPERATION, "sub"),
    (statement("sub", 2.0, -2.0, 3.0, 5.0), kinds.SWAPPED, ""),
    (statement("truediv", 5 / 3, 3 / 5, 3.0, 5.0), kinds.SWAPPED, ""),
    (statement("erf", math.tanh(0.8), math.erf(0.8), 0.8), kinds.OPERATION, "tanh"),
    (statement("mul", 3.0, 9.0, 3.0, 3.0), kinds.OPERAND, "tmp0"),
    (statement("mul", 0.9, 0.0, 0.0, 0.9), kinds.OPERATION, "add"),
    (statement("mul", 0.9, 9e-10, 0.9, 1e-9), kinds.OPERATION, "add"),
    (statement("add", 5.0, 6.0, 5.0, 1.0), kinds.OPERATION, "mul"),
    (statement("sub", 5.0, 4.0, 5.0, 1.0), kinds.OPERATION, "mul"),
    (statement("add", 5.0, 8.0, 5.0, 3.0), kinds.OPERAND, "tmp0"),
    (statement("maximum", 3.0, 5.0, 3.0, 5.0), kinds.OPERATION, "minimum"),
    (statement("neg", 3.0, -3.0, 3.0), kinds.OPERAND, "tmp0"),
    (statement("le", 0.0, 1.0, 3.0, 3.0, dtype="bool"), kinds.OPERATION, "lt"),
    (statement("where", 9.0, 4.0, 1.0, 4.0, 9.0), kinds.CHOICE, ""),
    (statement("add", 3.140625, 3.1415926, 3.0, 0.1415926), kinds.NARROWED, "bfloat16"),
    (statement("exp", -math.exp(1.5), math.exp(1.5), 1.5), kinds.SIGN, ""),
    (statement("tanh", 0.6640 * (1 + 2e-4), 0.6640, 0.8), kinds.APPROXIMATION, "CUDA's __tanhf (tanh.approx)"),
    (statement("reduction.sum", 3.0, 0.0), kinds.INITIAL, ""),
    (statement("reduction.sum", 4.0, 6.5, 4.0, 2.5), kinds.SKIPPED, ""),
    (statement("atomic_add", 9.0, 6.5, 4.0, 2.5), kinds.TWICE, ""),
    (statement("reduction.sum", 1e-5, 0.0, terms=1000, magnitude="1000.0"), kinds.ORDER, ""),
    (statement("load", 1.5, 2.5, element=10, read=9), kinds.INDEX, ""),
    (statement("load", 1.5, 2.5, element=10, read_from="buf3"), kinds.BUFFER, "buf3"),
    (statement("load", math.nan, 2.5), kinds.UNINITIALISED, ""),
    (statement("load", 1.5, 2.5), kinds.UNKNOWN, ""),
    (statement("mul", 17.0, 15.0, 3.0, 5.0), kinds.UNKNOWN, ""),
]


@pytest.mark.parametrize(("row", "kind", "other"), WRONG)
def test_of_a_wrong_value(row: StatementValue, kind: str, other: str) -> None:
    found = of_wrong(row, "auto tmp2 = …;")

    assert (found.kind, found.other) == (kind, other)
    assert sentence(found)


def test_what_a_mask_leaves_out() -> None:
    row = statement("load", 0.0, 2.5, element=10, read=9)

    assert of_wrong(row, "tmp2 = tl.load(in_ptr0 + (x0), xmask & (x0 < 3), other=0.0)").kind == kinds.MASK
    assert of_wrong(row, "tmp2 = tl.load(in_ptr0 + (x0), xmask)").kind == kinds.INDEX


@pytest.mark.parametrize(
    ("steps", "said"), [(-1, "the element before"), (1, "the element after"), (-20, "20 elements before")]
)
def test_which_element_was_read(steps: int, said: str) -> None:
    found = of_wrong(statement("load", 1.5, 2.5, element=100, read=100 + steps), "")

    assert said in sentence(found)


def test_cancellation() -> None:
    row = statement("sub", narrow(1e-4), 1e-4, 1.0001, 1.0)

    found = of_right(row, 1e-3, {})
    assert found is not None
    assert found.kind == kinds.CANCELLATION
    assert found.amount == pytest.approx(math.log2(2.0001 / 1e-4))
    assert of_right(row, 0.0, {}) is None  # its operands are exact
    assert of_right(statement("sub", 2.0, 2.0, 3.0, 1.0), 1e-3, {}) is None


def test_a_product_that_is_not_rounded_before_it_is_added() -> None:
    one, other = narrow(1 + 2**-12), narrow(1 + 2**-13)
    product = statement("mul", narrow(one * other), one * other, one, other)
    fused, plain = narrow(one * other - 1.0), narrow(narrow(one * other) - 1.0)
    rows = {"tmp0": product}

    assert fused != plain
    kind = of_right(statement("sub", fused, plain, narrow(one * other), 1.0), None, rows)
    assert kind == ErrorKind(kind=kinds.FUSED)
    assert of_right(statement("sub", plain, plain, narrow(one * other), 1.0), None, rows) is None


def test_a_quotient_and_a_function_that_are_not_rounded_correctly() -> None:
    ulp = 2.0**-24
    quotient = of_right(statement("truediv", 0.6 + 1.5 * ulp, 0.6, 3.0, 5.0), None, {})
    function = of_right(statement("sin", 0.6 + 2 * ulp, 0.6, 0.6435), None, {})

    assert quotient is not None
    assert quotient.kind == kinds.DIVISION
    assert function is not None
    assert (function.kind, function.other) == (kinds.APPROXIMATION, "SLEEF's function of 3.5 ULP")
    assert of_right(statement("sin", 0.6 + 9 * ulp, 0.6, 0.6435), None, {}) is None


def test_a_division_by_multiplying() -> None:
    one, other = 5.0, 49.0
    value = narrow(one * narrow(1 / other))
    found = of_right(statement("truediv", value, one / other, one, other), None, {})

    expected = abs(value - one / other) / 2.0**-27
    assert (found is not None and found.other == "reciprocal") == (expected > 1.0)


def test_the_order_of_a_sum() -> None:
    row = statement("reduction.sum", 1.0 + 2**-22, 1.0, terms=100, magnitude="50.0")

    found = of_right(row, None, {})
    assert found is not None
    assert found.kind == kinds.ORDER
    assert found.amount == pytest.approx(2.0)


def test_a_cast_that_is_left_out() -> None:
    row = statement("to_dtype", 3.1415927, 3.1415927, 3.1415927, dtype="bfloat16")
    cast = statement("to_dtype", 3.140625, 3.1415927, 3.1415927, dtype="bfloat16")

    assert of_right(row, None, {}) == ErrorKind(kind=kinds.NOT_NARROWED, other="bfloat16")
    assert of_right(cast, None, {}) is None


def test_every_kind_has_a_sentence() -> None:
    for kind in kinds.KINDS:
        assert sentence(ErrorKind(kind=kind, other="x", amount=1.0))


@pytest.mark.parametrize(
    ("value", "dtype", "found"),
    [
        (1.0 + 2**-8, "bfloat16", 1.0),
        (1.0 + 3 * 2**-8, "bfloat16", 1.0 + 2**-6),
        (70000.0, "float16", math.inf),
        (-1e39, "bfloat16", -math.inf),
        (0.1, "float64", 0.1),
    ],
)
def test_rounding(value: float, dtype: str, found: float) -> None:
    assert rounded(value, dtype) == found
