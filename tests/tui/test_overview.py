"""The overview: where the app opens, and where its rows and keys lead."""

import os
import shutil
import time
from pathlib import Path

from textual.pilot import Pilot

from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Run, StepAccount, StepTime, TimerBegan
from inspect_compile.tui.app import InspectApp
from inspect_compile.tui.models.run.overview import OverviewPage
from tests.tui.driving import RECORDED, go_to, lines, main_screen, press, row, said, settled, shown, until


def text_of(pilot: Pilot[None]) -> str:
    sheet = lines(pilot, "overview-rows").sheet
    return "\n".join(sheet.plain(index) for index in range(len(sheet)))


async def test_the_app_opens_on_it_and_v_comes_back(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert shown(pilot) == ["overview"]
        assert not main_screen(pilot).query_one("#tree").display
        assert lines(pilot, "overview-rows").has_focus
        sheet = lines(pilot, "overview-rows").sheet
        drawn = ["".join(span.text for span in sheet.spans(index, 78)) for index in range(18)]
        for words in ("2 graphs", "Where the bytes go", "Do first", "Dynamo", "Memory"):
            assert any(words in line for line in drawn), words
        assert "inspect-compile show mixed" in said(pilot, "command")
        await press(pilot, "2")
        assert shown(pilot) == ["fx"]
        await press(pilot, "v")
        assert shown(pilot) == ["overview"]
        assert lines(pilot, "overview-rows").has_focus


def test_where_a_step_goes_is_told_row_by_row(tmp_path: Path) -> None:
    dump = Path(shutil.copytree(RECORDED, tmp_path / "mixed"))
    writer = Writer(dump)
    writer.add(StepAccount(by="", steps=9, seconds=4e-3, least=4e-3, most=4e-3))
    for kind, seconds in (("optimizer", 3e-3), ("compiled kernels", 1e-3)):
        writer.add(StepTime(kind=kind, what=kind, seconds=seconds))
    writer.flush()

    sheet = OverviewPage(Dump(dump), "", has_program=False).sheet(120, 40)

    drawn = ["".join(span.text for span in sheet.spans(index, 118)) for index in range(len(sheet))]
    (title,) = (index for index, line in enumerate(drawn) if "where a step goes" in line)
    assert [line.split()[0] for line in drawn[title + 1 : title + 3]] == ["optimizer", "compiled"]
    assert "75.0 %" in drawn[title + 1]


async def test_rows_lead_to_what_they_are_about(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        go_to(pilot, "overview-rows", "model__0_backward_3.1")
        await press(pilot, "enter")
        assert "backward" in said(pilot, "top")
        await press(pilot, "v")
        go_to(pilot, "overview-rows", "mixed.py:17 18 19 22")
        await press(pilot, "enter")
        assert said(pilot, "context").startswith(" mixed.py:17 ·")
        await press(pilot, "v")
        go_to(pilot, "overview-rows", "convolution · mixed.py:17")
        await press(pilot, "enter")
        assert "convolution · mixed.py:17" in row(pilot, "fusion-rows")


async def test_keys_lead_to_the_most_expensive(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "5")
        assert "convolution · mixed.py:17" in row(pilot, "fusion-rows")
        assert "forward" in said(pilot, "top")
        await press(pilot, "v", "8")
        assert "forward" in said(pilot, "top")
        await press(pilot, "v", "R")
        assert lines(pilot, "overview-rows").key == "whole run"


async def test_what_is_compiled_is_said_while_it_is(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.run(Run(status="running", argv=("net.py",), pid=os.getpid()))
    async with InspectApp(Dump(tmp_path)).run_test(size=(120, 30)) as pilot:
        await settled(pilot)
        assert "live" in said(pilot, "top")
        writer.add(TimerBegan(graph="0/0", name="dynamo", start=time.time() - 41))
        writer.flush()
        await until(pilot, lambda: "Dynamo for 4" in said(pilot, "top"))
        await until(pilot, lambda: "compiling 0/0: Dynamo for 4" in text_of(pilot))
