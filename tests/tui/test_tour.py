"""docs/tour.md: at each stop there is to be seen what it says, and its picture is there."""

import re
from pathlib import Path

import pytest

from inspect_compile.tui.keys.actions import Action
from inspect_compile.tui.screens.help import ALL
from tests.tui.driving import TESTS
from tests.tui.tour import PANES, STOPS, Stop, app_of, go, prepare

DOCS = TESTS.parent / "docs"
TEXT = (DOCS / "tour.md").read_text("utf-8")


@pytest.mark.parametrize("stop", [*STOPS, PANES], ids=lambda stop: stop.name.rpartition("/")[2])
async def test_a_stop_shows_what_it_is_about(here: Path, stop: Stop) -> None:
    prepare(here)
    async with app_of(stop).run_test(size=stop.size) as pilot:
        shown = await go(pilot, stop)
    for words in stop.sees:
        assert words in shown


def test_each_stop_has_its_picture_in_order() -> None:
    assert re.findall(r"images/tour/(\w+)\.svg", TEXT) == [stop.name for stop in STOPS]
    assert {path.stem for path in (DOCS / "images" / "tour").iterdir()} == {stop.name for stop in STOPS}


def test_the_keys_that_it_names_are_keys() -> None:
    actions: list[Action] = [action for _, group in ALL for action in group]
    known = {key for action in actions for key in (*action.keys.split(","), action.label)}
    named = [word for word in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", TEXT) if len(word) == 1 or word in ("enter", "tab")]
    assert len(named) > 10
    assert {word for word in named if word not in known} == set()
