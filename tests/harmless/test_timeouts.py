"""Exceptions of the program's own that strike in our code: each one goes on."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.harmless.harness import EVERYWHERE, Outcome, Place, difference

STRIKING = Path(__file__).parent / "striking"
SHAPES = 8


def _struck(place: Place, tmp_path: Path, how: str) -> tuple[Outcome, list[list[str]]]:
    told = tmp_path / "told"
    environment = {"PYTHONPATH": str(STRIKING), "STRIKES": how, "STRIKES_FILE": str(told)}
    outcome = place.inspected(replace(EVERYWHERE, environment=environment))
    return outcome, [line.split("\t") for line in told.read_text().splitlines()]


@pytest.mark.harmless
def test_in_every_hook_and_while_each_probe_is_installed(place: Place, plain: Outcome, tmp_path: Path) -> None:
    """By a signal handler of each shape, and by another thread."""
    outcome, told = _struck(place, tmp_path, "each")
    assert difference(plain, outcome) == ""
    assert [words for words in told if words[0] != "went on"] == []
    struck = Counter(where for _, where, _ in told)
    assert len([where for where in struck if where.startswith("install ")]) > 50
    assert len([where for where in struck if not where.startswith("install ")]) > 80
    assert max(struck.values()) == SHAPES
    assert len(told) > 900


@pytest.mark.harmless
def test_at_any_moment_in_a_hook(place: Place, tmp_path: Path) -> None:
    """The program ends otherwise than alone: torch's own functions were interrupted, too."""
    _, told = _struck(place, tmp_path, "any")
    assert [words for words in told if words[0] != "went on"] == []
    assert len(told) > 60
