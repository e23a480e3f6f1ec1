"""Keys of views that come faster than what they lead to."""

from collections.abc import Callable

import pytest
from textual import events

from inspect_compile.dump import Dump
from inspect_compile.tui.app import InspectApp
from tests.tui.driving import main_screen, settled, until

PAIRS = [
    ("5", "6", "kernels"),
    ("6", "8", "memory"),
    ("5", "v", "overview"),
    ("8", "0", "program"),
    ("1", "5", "fusion"),
]


@pytest.mark.parametrize(("first", "last", "view"), PAIRS)
async def test_of_two_keys_before_the_dump_is_read_the_last_counts(
    mixed: Dump, first: str, last: str, view: str
) -> None:
    async with InspectApp(mixed).run_test(size=(120, 40)) as pilot:
        for key in (first, last):
            pilot.app.post_message(events.Key(key, key))
        await settled(pilot)
        assert main_screen(pilot).active == view


@pytest.mark.parametrize(("first", "last", "view"), PAIRS)
async def test_a_key_counts_while_the_one_before_still_opens_a_graph(
    mixed: Dump, first: str, last: str, view: str
) -> None:
    async with InspectApp(mixed).run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        screen = main_screen(pilot)
        opened: list[str] = []
        read = screen._reader.read

        async def slow(build: Callable[[Dump], object]) -> object:
            found = await read(build)
            if screen._place.kind == "graph" and not opened:
                opened.append(screen._place.name)
                pilot.app.post_message(events.Key(last, last))
                await until(pilot, lambda: screen.active == view or screen._latest[0] == view)
            return found

        screen._reader.read = slow  # type: ignore[method-assign,assignment]
        pilot.app.post_message(events.Key(first, first))
        await settled(pilot)
        assert opened
        assert screen.active == view
