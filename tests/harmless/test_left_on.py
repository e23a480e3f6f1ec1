"""INSPECT_COMPILE=1: a program ends, prints and leaves what it does without, and what it compiled is recorded."""

import pytest

from tests.harmless.harness import Case, Place, unharmed_left_on
from tests.harmless.test_programs import LONG, SHORT, recorded

AT_ONCE = ("backend raises, verbose", "SIGTERM", "becomes itself")
SEES_THE_VARIABLE = ("looks around",)
"""Programs that print their environment, which differs by what the user has set."""

LATER = {name: case for name, case in {**SHORT, **LONG}.items() if name not in (*AT_ONCE, *SEES_THE_VARIABLE)}


@pytest.mark.parametrize("name", AT_ONCE)
def test_hostile_program(name: str, place: Place) -> None:
    assert recorded(unharmed_left_on(place, SHORT[name]))


@pytest.mark.harmless
@pytest.mark.parametrize("case", LATER.values(), ids=LATER.keys())
def test_other_hostile_program(case: Case, place: Place) -> None:
    assert recorded(unharmed_left_on(place, case))
