"""A program that asks tracemalloc where its memory is from: it is told of torch, of us hardly."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import inspect_compile
from tests.harmless.harness import Case, Place, difference, unharmed

OURS = str(Path(inspect_compile.__file__).parent)
TOP = 20
"""Files that a program prints, say."""
SHARE = 0.03
"""Of all that is traced: our modules themselves, and what is not written yet."""


def case(frames: int) -> Case:
    return Case("traces_memory.py", ("traces_memory.py", str(frames)))


@pytest.mark.harmless
@pytest.mark.parametrize("frames", [1, 3])
def test_a_program_that_traces_its_memory(frames: int, place: Place) -> None:
    unharmed(place, case(frames))


@pytest.mark.harmless
def test_the_memory_that_it_traces_is_that_of_torch(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "traced.json"
    asked = replace(case(1), environment={"TRACED_TO": str(path)})
    assert difference(*place.twice(asked)) == ""

    for rows in json.loads(path.read_text()):
        sizes = {name: size for name, size in rows if size > 0}
        ours = {name: size for name, size in sizes.items() if name.startswith(OURS)}
        of_torch = max(size for name, size in sizes.items() if "/torch/" in name)
        assert ours, "the program was watched"
        assert ours.keys().isdisjoint(sorted(sizes, key=lambda name: -sizes[name])[:TOP])
        assert max(ours.values()) < of_torch / 4
        assert sum(ours.values()) < SHARE * sum(sizes.values())
