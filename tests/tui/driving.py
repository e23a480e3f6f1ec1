"""Driving the app: keys, and waiting until what they began is drawn."""

from collections.abc import Callable
from pathlib import Path

from textual import events
from textual.css.query import NoMatches
from textual.pilot import Pilot

from inspect_compile.tui.app import InspectApp
from inspect_compile.tui.screens.main import MainScreen
from inspect_compile.tui.widgets.bar import Bar
from inspect_compile.tui.widgets.lines import Lines

TESTS = Path(__file__).resolve().parent.parent
RECORDED = TESTS / "data" / "tui" / "mixed"
PROGRAM = TESTS / "tui" / "programs" / "mixed.py"

FORWARD = "model__0_forward_1.0"
BACKWARD = "model__0_backward_3.1"

ENDLESS = frozenset({"read", "program output"})
"""Groups of work that goes on for as long as a program runs."""


async def settled(pilot: Pilot[None]) -> None:
    """Wait until everything that was begun is drawn; of a program that runs, what is there by then."""
    calm = 0
    for _ in range(4000):
        await pilot.pause(0.005)
        screen = main_screen(pilot)
        endless = ENDLESS if screen.is_live else ()
        work = [worker for worker in pilot.app.workers if not worker.is_finished and worker.group not in endless]
        is_calm = bool(screen.query("#views > *")) and not work
        calm = calm + 1 if is_calm else 0
        if calm >= 6:
            return
    raise AssertionError("the app never came to rest")


async def until(pilot: Pilot[None], is_so: Callable[[], object]) -> None:
    """Wait for something a running program brings about; what is not on the screen yet is not so yet."""
    for _ in range(3000):
        try:
            if is_so():
                return
        except NoMatches:
            pass
        await pilot.pause(0.01)
    raise AssertionError(f"it never came to be so; the top says {said(pilot, 'top')!r}")


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, each after what the one before began."""
    await settled(pilot)
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


def main_screen(pilot: Pilot[None]) -> MainScreen:
    """The screen with everything, also below a question."""
    assert isinstance(pilot.app, InspectApp)
    return next(screen for screen in pilot.app.screen_stack if isinstance(screen, MainScreen))


def said(pilot: Pilot[None], bar: str) -> str:
    """What a bar says: top, tabs, context, command, keys, or `fx-title`."""
    return main_screen(pilot).query_one(f"#{bar}", Bar).text


def lines(pilot: Pilot[None], name: str) -> Lines:
    """A list: tree, `source-rows`, `kernels-detail`."""
    return main_screen(pilot).query_one(f"#{name}", Lines)


def marked(pilot: Pilot[None], view: str) -> list[str]:
    """The rows of a view that are marked, by their keys."""
    found = lines(pilot, f"{view}-rows")
    return [found.sheet.key(index) for index in range(len(found.sheet)) if found.is_marked(index)]


def row(pilot: Pilot[None], name: str) -> str:
    """The text of the row under a list's cursor."""
    found = lines(pilot, name)
    return found.sheet.plain(found.cursor)


def go_to(pilot: Pilot[None], name: str, text: str) -> None:
    """Choose the first row of a list that has `text`."""
    found = lines(pilot, name)
    index = next(index for index in range(len(found.sheet)) if text in found.sheet.plain(index))
    found.cursor = index
    found.choose()


def shown(pilot: Pilot[None]) -> list[str]:
    """The views that are seen, from left to right."""
    return [part.id or "" for part in main_screen(pilot).query("#views > *") if part.display]


async def typed_at_once(pilot: Pilot[None], *keys: str) -> None:
    """Keys that come together, as over ssh: the app has them all before it handles the first."""
    await settled(pilot)
    for key in keys:
        character = key if len(key) == 1 else None
        pilot.app.post_message(events.Key({"/": "slash"}.get(key, key), character))
    await settled(pilot)
