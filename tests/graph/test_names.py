"""Names, and long lists of them."""

import pytest

from inspect_compile.facts import Location
from inspect_compile.graph import few, short


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


@pytest.mark.parametrize("file", ["model.py", "/home/a/model.py", "C:\\a\\model.py"])
def test_a_line_is_named_by_the_last_part_of_its_path(file: str) -> None:
    assert short(Location(file, 12)) == "model.py:12"
