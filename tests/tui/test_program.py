"""A real program on a real terminal beside the app."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Button, Static

from inspect_compile.dump import Dump, Writer, paths
from inspect_compile.facts import Run
from inspect_compile.launch.program import PtyProgram
from inspect_compile.tui.app import InspectApp
from inspect_compile.tui.screens.quit import QuitScreen
from tests.tui.driving import TESTS, lines, press, said, settled, until

TALKS = TESTS / "tui" / "programs" / "talks.py"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[PtyProgram]:
    """A program that prints, asks and waits."""
    Writer(tmp_path).run(Run(status="running", argv=("talks.py",), pid=os.getpid()))
    log = tmp_path / paths.SCRIPT_LOG
    started = PtyProgram(
        sys.executable, [sys.executable, str(TALKS)], lambda _: dict(os.environ), log, rows=24, columns=80
    )
    yield started
    started.end(patience=5)


async def appears(pilot: Pilot[None], text: str) -> None:
    """Wait for a line on the program's terminal."""

    def is_there() -> bool:
        found = lines(pilot, "program-rows").sheet
        return any(text in found.plain(index) for index in range(len(found)))

    await until(pilot, is_there)


async def says(pilot: Pilot[None], bar: str, text: str) -> None:
    """Wait for a bar to say `text`."""
    await until(pilot, lambda: text in said(pilot, bar))


async def test_output_is_drawn_and_keys_are_typed(tmp_path: Path, program: PtyProgram) -> None:
    async with InspectApp(Dump(tmp_path), program).run_test(size=(80, 24)) as pilot:
        await press(pilot, "0")
        await appears(pilot, "name?")
        rows = lines(pilot, "program-rows")
        texts = [rows.sheet.plain(index) for index in range(len(rows.sheet))]
        assert texts == ["red and plain", "step 4", "name?"]
        assert rows.sheet.spans(0, 80)[0].text == "red"
        assert "color(1)" in rows.sheet.spans(0, 80)[0].role
        await press(pilot, "enter")
        assert "keys go to the program" in said(pilot, "program-title")
        await press(pilot, *"q1a", "enter")
        await appears(pilot, "hello q1a")
        await appears(pilot, f"size {rows.scrollable_content_region.width - 2} {rows.scrollable_content_region.height}")
        await press(pilot, "ctrl+c")
        await appears(pilot, "interrupted")
        await says(pilot, "program-title", "ended with exit status 3")
        await says(pilot, "top", "exit 3")


async def test_quitting_asks_while_the_program_runs(tmp_path: Path, program: PtyProgram) -> None:
    async with InspectApp(Dump(tmp_path), program).run_test(size=(80, 24)) as pilot:
        await press(pilot, "q")
        assert isinstance(pilot.app.screen, QuitScreen)
        await press(pilot, "n")
        assert not isinstance(pilot.app.screen, QuitScreen)
        assert program.status() is None
        await settled(pilot)
        await pilot.press("ctrl+q")
        await pilot.pause(0.1)
        await pilot.press("y")
        for _ in range(500):
            await pilot.pause(0.01)
            if not pilot.app.is_running:
                break
        assert not pilot.app.is_running


async def test_the_question_knows_that_the_program_has_ended_meanwhile(tmp_path: Path, program: PtyProgram) -> None:
    async with InspectApp(Dump(tmp_path), program).run_test(size=(80, 24)) as pilot:
        await press(pilot, "q")
        question = pilot.app.screen.query_one("#question", Static)
        assert "still running" in str(question.render())
        program.end()
        await until(pilot, lambda: "The program has ended " in str(question.render()))
        assert str(pilot.app.screen.query_one("#end", Button).label) == "Quit (y)"


async def test_quitting_does_not_ask_when_it_has_ended(tmp_path: Path, program: PtyProgram) -> None:
    async with InspectApp(Dump(tmp_path), program).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        program.end()
        await pilot.press("q")
        await pilot.pause(0.1)
        assert not pilot.app.is_running


async def test_what_was_printed_once_can_be_read_again(tmp_path: Path) -> None:
    Writer(tmp_path).run(Run(status="finished", argv=("talks.py",)))
    (tmp_path / paths.SCRIPT_LOG).write_bytes(b"one\r\n\x1b[32mtwo\x1b[0m\r\n")
    async with InspectApp(Dump(tmp_path)).run_test(size=(80, 24)) as pilot:
        await press(pilot, "0")
        await appears(pilot, "two")
        assert "as it was recorded" in said(pilot, "program-title")


async def test_a_run_that_kept_no_output_says_so(tmp_path: Path) -> None:
    Writer(tmp_path).run(Run(status="finished", argv=("talks.py",)))
    async with InspectApp(Dump(tmp_path)).run_test(size=(80, 24)) as pilot:
        await press(pilot, "0")
        await pilot.pause(0.5)
        rows = lines(pilot, "program-rows")
        assert len(rows.sheet) == 0
        assert "was not recorded" in rows.render_line(0).text
