"""Programs that look at torch's caches: the last line says what the recording changes, and `--cache keep` nothing."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.harmless.harness import Case, Place, difference
from tests.harmless.test_programs import TIMES

COUNTS_HITS = Case("counts_hits.py", ("counts_hits.py",))
PROGRAMS = {
    "counters": COUNTS_HITS,
    "artifacts": Case("packs_caches.py", ("packs_caches.py",)),
    "logs": Case("counts_hits.py", ("counts_hits.py",), {"TORCH_LOGS": "inductor,aot"}, by_chance=TIMES),
}


def test_hits_that_a_program_counts_are_told(place: Place) -> None:
    """Two look-ups of the second compile, one in each cache; the first compile finds nothing anyway."""
    found = place.inspected(COUNTS_HITS)
    assert found.stdout.splitlines()[-1] == "0 0"
    assert found.said[-1] == (
        "inspect-compile: the program looks at torch's counters: 2 cache lookups found nothing because of the "
        "recording; with --cache keep they are as without it"
    )


def test_with_kept_facts_a_program_counts_as_alone(place: Place, tmp_path: Path) -> None:
    """The second compile of the first run, and both of the second run, are served from torch's caches."""
    case = replace(COUNTS_HITS, environment={"INSPECT_COMPILE_CACHE_DIR": str(tmp_path / "kept")})
    plain = place.plain(case)
    kept = place.inspected(case, ("--cache", "auto"))

    assert difference(plain, kept) == ""
    assert plain.stdout.splitlines()[-1] == "1 1"


@pytest.mark.harmless
def test_where_nothing_was_stored_nothing_is_told(place: Place) -> None:
    case = Case("counts_stored.py", ("counts_stored.py",))
    plain, watched = place.twice(case)
    assert difference(plain, watched) == ""
    assert plain.stdout.splitlines()[-1] == "0 0"
    assert not any("--cache keep" in line for line in watched.said)


@pytest.mark.harmless
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_looks_is_told_and_can_keep_the_caches(name: str, place: Place) -> None:
    case = PROGRAMS[name]
    plain = place.plain(case)
    assert "--cache keep" in place.inspected(case).said[-1]
    kept = place.inspected(case, ("--cache", "keep"))
    assert difference(plain, kept) == ""
    assert not any("because of the recording" in line for line in kept.said)
