"""The program that calls the most hooks, in all modes of torch's caches: the same as alone, cold and warm."""

from dataclasses import replace

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import CacheLookup
from tests.harmless.harness import EVERYWHERE, Case, Outcome, Place, difference, unharmed, without_failures

SAVED = ("binary", "unpacked", "bundled", "mega-cache", "ahead of time", "precompiled")


@pytest.fixture
def case(place: Place) -> Case:
    kept = place.root / "kept"
    return replace(EVERYWHERE, environment={"INSPECT_COMPILE_CACHE_DIR": str(kept)})


def as_seen(outcome: Outcome) -> Outcome:
    """What is generated and stored apart: that is once more what a graph that is compiled anew is."""
    return replace(outcome, generated=(), cached=frozenset())


def outcomes(parts: list[Dump]) -> set[str]:
    return {row.outcome for part in parts for row in part.rows(CacheLookup) if row.cache == "aot_autograd"}


@pytest.mark.harmless
@pytest.mark.parametrize("mode", ["auto", "bypass", "keep"])
def test_a_mode(mode: str, place: Place, case: Case) -> None:
    options = ("--cache", mode)
    unharmed(place, case, options)

    watched = place.inspected(case, options, is_warm=True)
    parts = without_failures(place)
    plain = place.plain(case, is_warm=True)

    assert difference(as_seen(plain), as_seen(watched)) == ""
    assert ("hit" in outcomes(parts)) == (mode != "bypass")


@pytest.mark.harmless
@pytest.mark.parametrize("mode", ["auto", "bypass", "keep"])
@pytest.mark.parametrize("way", SAVED)
def test_what_was_saved_is_loaded(way: str, mode: str, place: Place) -> None:
    """Also where torch has nothing but its caches to load it from, as vLLM's warm start has."""
    kept = {"INSPECT_COMPILE_CACHE_DIR": str(place.root / "kept")}
    program = Case("loads_what_it_saved.py", ("loads_what_it_saved.py", way), kept)
    plain, watched = place.twice(program, ("--cache", mode))

    assert difference(as_seen(plain), as_seen(watched)) == ""
    assert without_failures(place)
