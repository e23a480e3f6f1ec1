"""Each key that is there for every list, in every view."""

from collections.abc import Awaitable, Callable

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input

from inspect_compile.dump import Dump
from inspect_compile.tui.app import InspectApp
from inspect_compile.tui.models.bars import Tab
from inspect_compile.tui.screens.columns import ColumnsScreen
from inspect_compile.tui.screens.go_to import GoToScreen
from inspect_compile.tui.screens.help import HelpScreen
from inspect_compile.tui.screens.saving import SaveScreen
from inspect_compile.tui.views import VIEWS
from inspect_compile.tui.widgets.lines import Lines
from tests.tui.driving import main_screen, press, shown

Check = Callable[[Pilot[None], Tab], Awaitable[None]]


def toasts(pilot: Pilot[None]) -> list[str]:
    """What was said in a corner."""
    return [notification.message for notification in pilot.app._notifications]


def rows_of(pilot: Pilot[None], tab: Tab) -> Lines:
    """The list of the view."""
    return main_screen(pilot).query_one(f"#{tab.name}-rows", Lines)


async def filters(pilot: Pilot[None], tab: Tab) -> None:
    rows = rows_of(pilot, tab)
    before = len(rows.sheet)
    word = rows.sheet.plain(rows.cursor).split()[0] if before else "anything"
    await press(pilot, "f")
    pilot.app.screen.query_one("#search-text", Input).value = word
    await press(pilot, "enter")
    assert rows.has_focus
    shown_rows = range(len(rows.sheet))
    others = [rows.sheet.plain(index) for index in shown_rows if not rows.sheet.is_heading(index)]
    others = [text for text in others if word.casefold() not in text.casefold()]
    assert not others
    assert bool(rows.sheet) == bool(before)
    await press(pilot, "escape")
    assert len(rows.sheet) == before


async def has_columns(pilot: Pilot[None], tab: Tab) -> None:
    rows = rows_of(pilot, tab)
    await press(pilot, "o")
    if not rows.columns:
        assert toasts(pilot)[-1] == "this list has no columns"
        return
    assert isinstance(pilot.app.screen, ColumnsScreen)
    await press(pilot, "enter", "escape")
    assert (rows.arrangement.column, rows.arrangement.is_descending) == (rows.columns[0], False)
    await press(pilot, "O")
    assert rows.arrangement.is_descending
    await press(pilot, "o", "space", "escape")
    assert rows.arrangement.hidden == ({rows.columns[0]} if len(rows.columns) > 1 else set())


async def turns_nothing_round(pilot: Pilot[None], tab: Tab) -> None:
    await press(pilot, "O")
    assert toasts(pilot)[-1] == "no column is sorted: press o to choose one"


async def is_widened(pilot: Pilot[None], tab: Tab) -> None:
    rows = rows_of(pilot, tab)
    before = shown(pilot)
    await press(pilot, "w")
    assert shown(pilot) == [tab.name]
    assert rows.size.width >= pilot.app.size.width - 3
    await press(pilot, "w")
    assert shown(pilot) == before


async def steps(pilot: Pilot[None], tab: Tab) -> None:
    await press(pilot, "left_square_bracket")
    await press(pilot, "right_square_bracket")
    assert toasts(pilot) == ["no earlier selection", "no later selection"]
    assert main_screen(pilot).active == tab.name


async def goes_to_a_node(pilot: Pilot[None], tab: Tab) -> None:
    await press(pilot, "g")
    assert isinstance(pilot.app.screen, GoToScreen)
    await press(pilot, *"erf", "enter")
    assert main_screen(pilot).active == "fx"
    await press(pilot, tab.key)
    assert main_screen(pilot).active == tab.name


async def lists_all_actions(pilot: Pilot[None], tab: Tab) -> None:
    for key in ("colon", "ctrl+p"):
        await pilot.press(key)
        await pilot.pause()
        assert isinstance(pilot.app.screen, CommandPalette)
        await press(pilot, "escape")
    await press(pilot, "question_mark")
    assert isinstance(pilot.app.screen, HelpScreen)
    await press(pilot, "escape")


async def copies(pilot: Pilot[None], tab: Tab) -> None:
    await press(pilot, "y")
    assert pilot.app.clipboard == main_screen(pilot).command
    assert pilot.app.clipboard.startswith("inspect-compile ")
    rows = rows_of(pilot, tab)
    await press(pilot, "escape", "Y")
    if len(rows.sheet):
        assert pilot.app.clipboard == rows.sheet.plain(rows.cursor).strip()


async def saves(pilot: Pilot[None], tab: Tab) -> None:
    await press(pilot, "S")
    assert isinstance(pilot.app.screen, SaveScreen)
    await press(pilot, "escape")


async def goes_elsewhere(pilot: Pilot[None], tab: Tab) -> None:
    await press(pilot, "e")
    assert toasts(pilot)[-1].startswith(
        ("no line of a file is known for this row", "no editor is set", "the editor needs")
    )
    await press(pilot, "d")
    assert toasts(pilot)[-1] == "nothing to draw around: select a line, a node or a kernel first"


CHECKS: tuple[Check, ...] = (
    is_widened,
    turns_nothing_round,
    steps,
    filters,
    lists_all_actions,
    copies,
    saves,
    goes_elsewhere,
    has_columns,
    goes_to_a_node,
)


@pytest.mark.parametrize("tab", VIEWS, ids=[tab.name for tab in VIEWS])
async def test_keys_in_every_view(mixed: Dump, tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    async with InspectApp(mixed).run_test(size=(100, 40)) as pilot:
        await press(pilot, tab.key)
        assert main_screen(pilot).active == tab.name
        for check in CHECKS:
            pilot.app._notifications.clear()
            await check(pilot, tab)
