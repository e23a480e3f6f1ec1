"""A view that fails says why in its place; the others work."""

import asyncio
from typing import Any, NoReturn

import pytest

from inspect_compile.dump import Dump
from inspect_compile.tables import loaded
from inspect_compile.tables.columns import Column
from inspect_compile.tui.app import InspectApp
from inspect_compile.tui.models.sheet import Row, Subject, Table
from inspect_compile.tui.views import VIEWS
from tests.tui.driving import lines, press, shown

OF_A_GRAPH = [tab for tab in VIEWS if tab.name not in ("overview", "program")]
SIZE = (100, 40)


def _broken(*_: Any) -> NoReturn:
    raise KeyError("buf99")


def test_a_view_that_fails_is_a_panel_with_the_reason(mixed: Dump, monkeypatch: pytest.MonkeyPatch) -> None:
    works, *broken = sorted(OF_A_GRAPH, key=lambda tab: tab.name != "fx")
    for tab in broken:
        view: Any = loaded(tab.where)
        monkeypatch.setattr(view, "build", _broken)
        monkeypatch.setattr(view, "beginning", _broken)

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
