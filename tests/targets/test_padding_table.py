"""The table of padded matmuls says what was timed."""

import json
from collections import Counter

import pytest

from inspect_compile.knowledge.targets.padding import ENOUGH, SEEN, Matmul, Seen, class_of, seen
from tests.conftest import TESTS

TIMED = json.loads((TESTS / "data" / "padding_h200.json").read_text())["rows"]
PAYS = 1.1
"""torch's own: padding must be faster by that."""


def test_it_counts_what_an_h200_timed() -> None:
    there, padded = Counter[object](), Counter[object]()
    for _, m, k, n, dtype, layouts, plain, with_padding in TIMED:
        found = class_of(Matmul(m, k, n, dtype, k if layouts[0] == "n" else m, n if layouts[1] == "n" else k))
        there[found] += 1
        padded[found] += plain > PAYS * with_padding
    assert {one: Seen(padded[one], there[one]) for one in there} == SEEN
    decided = [found for found in SEEN.values() if found.decided is not None]
    assert sum(found.padded if found.decided else found.of - found.padded for found in decided) >= ENOUGH * sum(
        found.of for found in decided
    )


@pytest.mark.parametrize(
    ("matmul", "decided"),
    [
        (Matmul(16384, 768, 50257, "bfloat16", 768, 768), True),  # GPT-2's words: 13.3 ms, 2.2 ms with padding
        (Matmul(577, 1024, 1024, "float16", 1024, 1024), None),  # of 88 that were timed, 5 were padded
        (Matmul(50, 768, 768, "float16", 768, 768), False),
        (Matmul(4096, 4096, 4097, "float32", 4096, 4096), False),
    ],
)
def test_what_is_decided(matmul: Matmul, decided: bool | None) -> None:
    found = seen(matmul)
    assert found is not None
    assert found.decided is decided


def test_nothing_is_known_of_what_was_not_timed() -> None:
    assert seen(Matmul(512, 512, 513, "float32", 512, 512, tf32=True)) is None
    assert seen(Matmul(512, 512, 513, "float64", 512, 512)) is None
