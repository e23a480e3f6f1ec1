"""What the app keeps: a graph that is seen again is not read again, and work that has ended holds nothing."""

import asyncio
import gc
import weakref
from functools import partial

import pytest
from textual.app import App

from inspect_compile.dump import Dump
from inspect_compile.tui.app import InspectApp
from inspect_compile.tui.work import start
from tests.tui.driving import main_screen, press, said


class _Rows:
    """Much memory."""


async def test_a_graph_is_not_read_again_after_the_overview(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(120, 40)) as pilot:
        await press(pilot, "2")
        scope, top = main_screen(pilot)._scope, said(pilot, "top")
        assert scope is not None
        await press(pilot, "v")
        assert main_screen(pilot)._scope is None
        await press(pilot, "2")
        assert main_screen(pilot)._scope is scope
        assert said(pilot, "top") == top
        assert "finding" in top


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_work_that_has_ended_holds_nothing(is_cancelled: bool) -> None:
    """Without the garbage collector: what is in a cycle when the reader freezes what it has read stays for good."""
    ended = asyncio.Event()

    async def work(_: _Rows) -> None:
        await ended.wait()

    rows = _Rows()
    held = weakref.ref(rows)
    app: App[None] = App()
    async with app.run_test() as pilot:
        gc.disable()
        try:
            start(app, partial(work, rows), group="rows")
            del rows
            await pilot.pause()
            (worker,) = (one for one in app.workers if one.group == "rows")
            assert held() is not None
            worker.cancel() if is_cancelled else ended.set()
            while not worker.is_finished:
                await pilot.pause(0.01)
            assert worker.is_cancelled == is_cancelled
            assert held() is None
        finally:
            gc.enable()
