"""Elements that an index reaches, against all of them written out."""

from itertools import product

import pytest

from inspect_compile.graph.indexing.footprint import evaluated, image, together


def reached(text: str, ranges: dict[str, int]) -> set[int]:
    """Every value of the index."""
    known = {"ModularIndexing": lambda value, divisor, modulus: value // divisor % modulus}
    points = product(*(range(length) for length in ranges.values()))
    return {eval(text, {**known, **dict(zip(ranges, point, strict=True))}) for point in points}


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("c0", {"c0": 8}),
        ("32*c0 + c1 + 5", {"c0": 4, "c1": 8}),
        ("c0", {"c0": 8, "c1": 100}),  # read again for each c1
        ("c0 + c1", {"c0": 8, "c1": 3}),  # a window
        ("4*c0 + c1", {"c0": 5, "c1": 7}),
        ("-c0 + 7", {"c0": 8}),  # flipped
        ("((c0//2))", {"c0": 9}),
        ("8*ModularIndexing(c0, 1, 4) + ((c0//4))", {"c0": 32}),  # transposed
        ("16*c0 + ModularIndexing(c1 + 11, 1, 16)", {"c0": 3, "c1": 16}),  # rolled
        ("ModularIndexing(c1 + 4*c0, 1, 8)", {"c0": 4, "c1": 4}),
    ],
)
def test_exactly(text: str, ranges: dict[str, int]) -> None:
    assert image(text, ranges, {}).elements == len(reached(text, ranges))


@pytest.mark.parametrize(
    "text",
    [
        "3*((c0//4)) + 3*c0",
        "ModularIndexing(c0, 1, 8) + 8*((c0//8))",
        "ModularIndexing(c0 + 3, 1, 8) + 2*c0",
        "4*ModularIndexing(c0 + 4*c1, 4, 2) + ModularIndexing(c1 + 4*c0, 1, 2)",
        "c0*c1",
    ],
)
@pytest.mark.parametrize("length", [3, 8, 12])
def test_never_too_many(text: str, length: int) -> None:
    ranges = {"c0": length, "c1": 4}
    assert 1 <= image(text, ranges, {}).elements <= len(reached(text, ranges))


@pytest.mark.parametrize(
    ("one", "other", "ranges"),
    [
        ("64*c0 + c1", "64*c0 + c1 + 32", {"c0": 4, "c1": 32}),  # two halves of each row
        ("2*c0", "2*c0 + 1", {"c0": 8}),
        ("c0", "c0 + 8", {"c0": 8}),
    ],
)
def test_parts_that_are_apart_add_up(one: str, other: str, ranges: dict[str, int]) -> None:
    both = reached(one, ranges) | reached(other, ranges)
    assert together([image(one, ranges, {}), image(other, ranges, {})]) == len(both)


def test_parts_that_may_overlap_do_not() -> None:
    ranges = {"c0": 4, "c1": 32}
    overlapping = image("64*c0 + c1", ranges, {}), image("64*c0 + c1 + 31", ranges, {})
    assert together(overlapping) == 4 * 32


def test_what_values_decide_stands_still() -> None:
    found = image("16*tmp0 + c1", {"c0": 5, "c1": 16}, {})
    assert found.is_indirect
    assert found.elements == 16


def test_sizes_at_their_hints() -> None:
    assert image("s0*c0 + c1", {"c0": 4, "c1": 4}, {"s0": 4}).elements == 16
    assert evaluated("4*s0**2", {"s0": 3}) == 36
    assert evaluated("s0*u0", {"s0": 3}) is None
