"""The rule of the verdicts, at its edges."""

import msgspec
import pytest

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.verdicts import (
    EXACT,
    NEARER,
    NOT_COMPARABLE,
    ROUNDING,
    WORSE,
    WRONG,
    is_beyond_all,
    verdict,
)

ROW = Checked(
    graph="model__0_inference_0.0",
    call=1,
    index=0,
    node="add",
    dtype="float32",
    elements=4096,
    differing=10,
    rmse=1e-7,
    eager_rmse=1e-7,
    noise_rmse=1e-8,
    exact_rms=1.0,
    worst_error=4e-7,
    eager_worst_error=4e-7,
    noise_worst=1e-7,
    exact=1.0,
)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ROUNDING),
        ({"is_equal": True}, EXACT),
        ({"reason": "it is not a tensor"}, NOT_COMPARABLE),
        ({"mismatch": "int64[2], not bfloat16[2]"}, WRONG),
        ({"rmse": 5e-8}, NEARER),
        ({"rmse": 2e-7}, ROUNDING),
        ({"rmse": 2.1e-7}, WORSE),
        ({"rmse": 2.9e-7, "elements": 999}, ROUNDING),
        ({"rmse": 2.1e-7, "noise_rmse": 2e-7}, ROUNDING),
        # Eager is exact by luck: half a unit in the last place is rounding all the same.
        ({"rmse": 6e-8, "eager_rmse": 0.0, "noise_rmse": 0.0}, ROUNDING),
        ({"rmse": 1e-6, "worst_error": 1.4e-5}, WORSE),
        ({"unexplained": 1}, WRONG),
        # Eager's value is not finite: there is no error of it, or it is not that of all elements.
        ({"eager_alone": 4096, "eager_rmse": None}, NEARER),
        ({"eager_alone": 1}, NEARER),
        ({"eager_alone": 1, "rmse": 2.1e-7}, WORSE),
        # What all elements are off by, where values are rounded to half types.
        ({"rmse": 4e-3, "noise_rmse": 9e-4, "typical": 4.1}, WRONG),
        ({"rmse": 4e-3, "noise_rmse": 9e-4, "typical": 3.9}, WORSE),
        ({"rmse": 3e-3, "noise_rmse": 9e-4, "typical": 4.1}, WORSE),
        ({"rmse": 4e-3, "noise_rmse": 9e-4, "typical": 4.1, "elements": 63}, WORSE),
        ({"rmse": 1e-5, "typical": 50.0}, WORSE),
        # A pass made another value in fp64, whatever rounding hides of that.
        ({"exact_apart": 0.01, "apart": 1e-3}, WRONG),
        ({"nonfinite_wrong": 1}, WRONG),
        ({"rmse": None, "eager_rmse": None, "noise_rmse": None}, NOT_COMPARABLE),
        ({"dtype": "int64", "rmse": None, "untied": 0}, ROUNDING),
        ({"dtype": "int64", "rmse": None, "untied": 1}, WRONG),
        ({"no_exact": "it takes bits", "worst_error": 1e-5}, ROUNDING),
        ({"no_exact": "it takes bits", "worst_error": 1e-2}, NOT_COMPARABLE),
        ({"no_exact": "it takes bits", "nonfinite_wrong": 3}, NOT_COMPARABLE),
    ],
)
def test_verdict(changes: dict[str, object], expected: str) -> None:
    assert verdict(msgspec.structs.replace(ROW, **changes)) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"worst_error": 1.2e-5}, False),
        ({"worst_error": 1.4e-5}, True),
        # The tolerance is that of the element where it is the larger one, and what rounding explains is not wrong.
        ({"worst_error": 1.4e-5, "exact": 2.0}, False),
        ({"worst_error": 1.4e-5, "noise_worst": 1e-6}, False),
        # Of half precision a kernel rounds the result only.
        ({"dtype": "bfloat16", "worst_error": 0.09, "eager_worst_error": 0.012}, False),
        ({"dtype": "bfloat16", "worst_error": 0.1, "eager_worst_error": 0.012}, True),
    ],
)
def test_the_largest_error_of_all(changes: dict[str, object], expected: bool) -> None:
    assert is_beyond_all(msgspec.structs.replace(ROW, **changes)) == expected
