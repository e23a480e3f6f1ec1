"""A view that fails says why in its place; the others work."""

import asyncio
from typing import Any, NoReturn

import pytest
from textual.app import ComposeResult
from textual.screen import ModalScreen
from textual.widgets import Static
from textual.worker import WorkerFailed

from inspect_compile.dump import Dump
from inspect_compile.tables.columns import Column
from inspect_compile.tui.app import InspectApp
from inspect_compile.tui.models.sheet import Panel, Row, Subject, Table
from inspect_compile.tui.views import VIEWS, load
from inspect_compile.tui.work import start
from tests.tui.driving import lines, press, settled, shown, until

OF_A_GRAPH = [tab for tab in VIEWS if tab.name not in ("overview", "program")]
SIZE = (100, 40)


def _broken(*_: Any) -> NoReturn:
    raise KeyError("buf99")


def test_a_view_that_fails_is_a_panel_with_the_reason(mixed: Dump, monkeypatch: pytest.MonkeyPatch) -> None:
    works, *broken = sorted(OF_A_GRAPH, key=lambda tab: tab.name != "fx")
    for tab in broken:
        view = load(tab.name)
        if not isinstance(view, Panel):
            monkeypatch.setattr(view, "build", _broken)
            monkeypatch.setattr(view, "beginning", _broken)
    names = {tab.name for tab in broken}

    def loaded(name: str) -> Any:
        view = load(name)
        return view._replace(build=_broken) if isinstance(view, Panel) and name in names else view

    monkeypatch.setattr("inspect_compile.tui.screens.shown.load", loaded)

    async def look() -> None:
        app = InspectApp(mixed)
        async with app.run_test(size=SIZE) as pilot:
            for tab in broken:
                await press(pilot, tab.key)
                assert tab.name in shown(pilot)
                text = lines(pilot, f"{tab.name}-rows").sheet.plain(0)
                assert text == "✗ This cannot be shown: KeyError: 'buf99'"
            await press(pilot, works.key)
            rows = lines(pilot, f"{works.name}-rows")
            before = rows.cursor
            await press(pilot, "down")
            assert rows.cursor == before + 1 < len(rows.sheet)

    asyncio.run(look())


def test_what_cannot_be_read_any_more_is_said_whatever_key_is_pressed(mixed: Dump) -> None:
    async def look() -> None:
        app = InspectApp(mixed)
        async with app.run_test(size=SIZE) as pilot:
            await press(pilot, "1")
            await app.screen._reader.read(_spoil)  # type: ignore[attr-defined]
            for keys in (*"0123456789", "enter", "i", "c", "e", "d", "r", "v", "b", "escape", "left", "down", "enter"):
                await press(pilot, keys)
            await press(pilot, "g")
            await pilot.press("b", "u", "f")
            await until(
                pilot, lambda: "This cannot be shown" in str(app.screen.query_one("#go-to-said", Static).render())
            )

    asyncio.run(look())


def _spoil(dump: Dump) -> None:
    """From now on neither its run nor its tables can be read."""
    (dump.root / "run.json").write_text("{")
    del dump.run
    dump._tables = None  # type: ignore[assignment]


class _Leaving(Static):
    def __init__(self) -> None:
        super().__init__(id="leaving")
        self.has_left = asyncio.Event()

    def on_unmount(self) -> None:
        self.has_left.set()


class _Working(ModalScreen[None]):
    """Work that goes on once the screen's widgets are gone, and looks for one of them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def compose(self) -> ComposeResult:
        yield _Leaving()

    def on_mount(self) -> None:
        start(self, self._look, group="look")

    async def _look(self) -> None:
        await self.query_one(_Leaving).has_left.wait()
        self.found.append("nothing")
        self.query_one("#leaving")
        self.found.append("a widget")


@pytest.mark.parametrize("is_app_closed", [True, False], ids=["the app", "the screen"])
def test_work_whose_screen_is_being_closed_ends_without_an_error(mixed: Dump, is_app_closed: bool) -> None:
    async def look() -> None:
        app = InspectApp(mixed)
        screen = _Working()
        async with app.run_test(size=SIZE) as pilot:
            await app.push_screen(screen)
            if not is_app_closed:
                app.pop_screen()
                await settled(pilot)
        assert screen.found == ["nothing"]

    asyncio.run(look())


def test_work_of_a_screen_that_is_shown_fails_aloud(mixed: Dump) -> None:
    async def fail() -> None:
        raise KeyError("buf99")

    async def look() -> None:
        app = InspectApp(mixed)
        async with app.run_test(size=SIZE) as pilot:
            start(app.screen, fail, group="fail")
            await pilot.pause()

    with pytest.raises(WorkerFailed, match="buf99"):
        asyncio.run(look())


def test_a_row_that_fails_says_so_and_the_others_are_drawn(mixed: Dump) -> None:
    columns: tuple[Column[int], ...] = (Column("tenth", lambda number: f"{10 / number:.0f}", stretch=True),)
    rows = [Row.of(columns, number, str(number), Subject("node", (str(number),), str(number))) for number in (5, 0, 2)]

    async def look() -> None:
        app = InspectApp(mixed)
        async with app.run_test(size=SIZE) as pilot:
            await press(pilot, "2")
            drawn = lines(pilot, "fx-rows")
            table = Table(columns, rows[:1])
            table.rows = rows
            drawn.restart(table)
            await pilot.pause()
            texts = [drawn.render_line(y).text.strip() for y in range(1, 4)]
            assert [texts[0], texts[2]] == ["2", "5"]
            assert texts[1] == "✗ This row cannot be shown: ZeroDivisionError: division by zero"

    asyncio.run(look())
