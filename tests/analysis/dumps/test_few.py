"""A long list is cut, and says by how much."""

import pytest

from inspect_compile.analysis.dumps.names import few


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a, b"),
        (["a", "b", "c"], "a, b and 1 more"),
        (["a"] * 2002, "a, a and 2,000 more"),
    ],
)
def test_the_first_are_told(names: list[str], shown: str) -> None:
    assert few(names, 2) == shown
