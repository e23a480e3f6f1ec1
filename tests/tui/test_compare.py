"""Two compiles beside each other in the app."""

import shutil
from pathlib import Path

import pytest
from textual.pilot import Pilot

from inspect_compile.analysis.compare.side_by_side import Side
from inspect_compile.dump import Dump
from inspect_compile.facts import Run
from inspect_compile.tui.app import InspectApp
from inspect_compile.tui.screens.compare import CompareScreen
from inspect_compile.tui.widgets.bar import Bar
from inspect_compile.tui.widgets.lines import Lines
from tests.handmade import made
from tests.tui.driving import FORWARD, RECORDED, press, settled, until
from tests.tui.test_snapshots import Compare, pytestmark

__all__ = ["pytestmark"]
CHANGED = "cpp_fused_gelu_view_2"


@pytest.fixture
def two(here: Path) -> tuple[list[Side], str]:
    """The recorded dump, and one in which a kernel has another source."""
    for name in ("old", "new"):
        shutil.copytree(RECORDED, here / name)
    source = here / "new" / "torchinductor" / FORWARD / "kernels" / CHANGED / "source.cpp"
    source.write_text(source.read_text("utf-8") + "int more;\n", "utf-8")
    return [Side(name, Dump(Path(name))) for name in ("old", "new")], "inspect-compile diff old new"


def screen(pilot: Pilot[None]) -> CompareScreen:
    assert isinstance(pilot.app.screen, CompareScreen)
    return pilot.app.screen


def texts(pilot: Pilot[None], name: str) -> list[str]:
    sheet = screen(pilot).query_one(f"#{name}", Lines).sheet
    return [sheet.plain(index) for index in range(len(sheet))]


async def compared(pilot: Pilot[None]) -> None:
    await until(pilot, lambda: texts(pilot, "compare-rows"))


async def choose(pilot: Pilot[None], text: str, shown: str) -> None:
    """Go to the row with `text`, which shows `shown` first on the left."""
    rows = screen(pilot).rows
    rows.cursor = next(index for index in range(len(rows.sheet)) if text in rows.sheet.plain(index))
    rows.choose()
    await settled(pilot)
    assert shown in texts(pilot, "compare-side-0")[:2]


async def test_a_kernel_shows_both_sources_and_a_difference_what_each_side_has(two: tuple[list[Side], str]) -> None:
    async with InspectApp(two[0][0].dump, beside=two).run_test(size=(160, 45)) as pilot:
        await compared(pilot)
        assert "1 kernel differs" in screen(pilot).query_one("#compare-top", Bar).text
        await choose(pilot, CHANGED, CHANGED)
        sides = [texts(pilot, f"compare-side-{place}") for place in range(2)]
        assert [side[0] for side in sides] == ["old", "new"]
        assert sides[1][-1] == "int more;"
        assert sides[0][1:] == sides[1][1:-1]
        await pilot.press("u")
        await until(pilot, lambda: any("#include" in line for line in texts(pilot, "compare-side-0")))
        await choose(pilot, "kernels  ", "only old")
        assert [texts(pilot, f"compare-side-{place}") for place in range(2)] == [
            ["only old", CHANGED],
            ["only new", CHANGED],
        ]
        await pilot.press("escape")
        await settled(pilot)
        assert not isinstance(pilot.app.screen, CompareScreen)


async def test_causes_come_first_with_their_story(two: tuple[list[Side], str]) -> None:
    async with InspectApp(two[0][0].dump, beside=two).run_test(size=(80, 24)) as pilot:
        await compared(pilot)
        rows = texts(pilot, "compare-rows")
        assert rows[0] == "1 cause of differences, the most expensive first"
        assert " ".join(rows[1].split()) == "▲ mixed.py:19 codegen the same loops generate different code"
        assert rows[2] == "kernels"
        assert screen(pilot).rows.cursor == 1
        await until(pilot, lambda: len(texts(pilot, "compare-story")) == 3)
        assert texts(pilot, "compare-story") == [
            "mixed.py:19  z = self.down(gelu(self.up(y)))",
            "codegen: the same loops generate different code",
            "1 launch, 1.05 MB: unchanged",
        ]
        await until(pilot, lambda: CHANGED in texts(pilot, "compare-side-1"))
        assert [texts(pilot, f"compare-side-{place}")[0] for place in range(2)] == ["old", "new"]
        assert screen(pilot).query_one("#compare-story", Lines).display
        await choose(pilot, CHANGED, CHANGED)
        assert not screen(pilot).query_one("#compare-story", Lines).display, "a kernel has no story"


async def test_the_screen_below_reads_its_dump_meanwhile(two: tuple[list[Side], str]) -> None:
    dump = two[0][0].dump
    async with InspectApp(dump, beside=two).run_test() as pilot:
        await compared(pilot)
        assert all(side.dump is not dump for side in screen(pilot).sides)
        assert [side.dump.root for side in screen(pilot).sides] == [side.dump.root for side in two[0]]


async def test_the_ranks_of_a_run(here: Path) -> None:
    for rank in range(2):
        shutil.copytree(RECORDED, here / "run" / f"rank_{rank}")
    made(here / "run", run=Run(status="finished"))

    async with InspectApp(Dump(Path("run"))).run_test(size=(160, 45)) as pilot:
        await settled(pilot)
        await pilot.press("b")
        await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))
        await compared(pilot)
        assert "bytes rank 1" in "".join(span.text for span in screen(pilot).rows.sheet.titles(150))
        assert screen(pilot).query_one("#compare-command", Bar).text.strip().endswith("show run ranks")
        assert "0 kernels differ" in screen(pilot).query_one("#compare-top", Bar).text
        if shutil.which("dot"):
            await pilot.press("d")
            await until(pilot, lambda: any(one.title == "Drawn" for one in pilot.app._notifications))
            assert "rank 1" in next((here / "run").rglob("*.svg")).read_text("utf-8")


async def test_one_compile_is_not_beside_anything(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "b")
        assert not isinstance(pilot.app.screen, CompareScreen)
        assert "open OLD NEW" in " ".join(str(one.message) for one in pilot.app._notifications)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda size: str(size[0]))
def test_two_dumps(two: tuple[list[Side], str], snap_compare: Compare, size: tuple[int, int]) -> None:
    async def before(pilot: Pilot[None]) -> None:
        await compared(pilot)
        await choose(pilot, CHANGED, CHANGED)
        pilot.app.screen.query_one("#compare-rows", Lines).scroll_to(y=0, animate=False, force=True, immediate=True)
        await settled(pilot)

    assert snap_compare(InspectApp(two[0][0].dump, beside=two), terminal_size=size, run_before=before)
