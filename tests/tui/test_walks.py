"""The ways that a new user goes: a few keys from opening a dump to an answer on the screen."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from inspect_compile.dump import Dump
from inspect_compile.tui.app import InspectApp
from tests.tui.driving import lines, marked, press, row, said, settled, typed_at_once
from tests.tui.tour import on_screen, prepare

SIZE = (120, 40)
LOAD = "load = scores.sum(dim=0)"


@pytest.fixture
def walks(here: Path) -> Dump:
    """A dump with a graph break and recompiles, beside its program."""
    prepare(here)
    return Dump(Path("walks"))


async def test_the_dearest_finding_its_line_and_what_to_change_with_one_key(walks: Dump) -> None:
    async with InspectApp(walks).run_test(size=SIZE) as pilot:
        await press(pilot, "5")
        assert "walks.py:25" in row(pilot, "fusion-rows")
        told = detail(pilot, "fusion")
        assert "graph break: Python runs this line" in told
        assert 'print("routed")' in told
        assert "to do torch says, not tried: Avoid calling builtin `print`" in told


async def test_the_dearest_copy_with_both_kernels_with_one_key(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=SIZE) as pilot:
        await press(pilot, "5")
        assert "convolution · mixed.py:17" in row(pilot, "fusion-rows")
        told = detail(pilot, "fusion")
        assert "y = torch.relu(self.conv(x))" in told
        assert "to do keep them in channels-last memory: model.to(memory_format= torch.channels_last)" in told
        kernels = [key.split()[1] for key in marked(pilot, "kernels")]
        assert len(kernels) == 2
        assert "extern_kernels.convolution" in kernels
        assert said(pilot, "context").startswith(" convolution · mixed.py:17")


async def test_the_costliest_line_without_a_key_and_its_place_with_one(walks: Dump) -> None:
    async with InspectApp(walks).run_test(size=SIZE) as pilot:
        await settled(pilot)
        assert "36 % 7.36 MB 15.6 M 2 walks.py:16 17 scores = gelu(self.score(x)) * self.scale" in on_screen(pilot)
        await press(pilot, "1")
        assert "scores = gelu(self.score(x)) * self.scale" in row(pilot, "source-rows")
        assert said(pilot, "context").startswith(" walks.py:16 ·")


async def test_from_a_kernel_name_in_a_profile_to_its_lines_with_three(walks: Dump) -> None:
    async with InspectApp(walks).run_test(size=SIZE) as pilot:
        await typed_at_once(pilot, "g", *"cpp_fused_gelu_mul_sum_1", "enter")
        assert said(pilot, "context").startswith(" cpp_fused_gelu_mul_sum_1 · walks.py:16 18 ·")
        await press(pilot, "1")
        shown = lines(pilot, "source-rows")
        assert any(shown.is_marked(index) and LOAD in shown.sheet.plain(index) for index in range(len(shown.sheet)))


async def test_who_holds_the_peak_of_memory_with_one(walks: Dump) -> None:
    async with InspectApp(walks).run_test(size=SIZE) as pilot:
        await press(pilot, "8")
        assert "4.46 MB" in row(pilot, "memory-rows")
        told = detail(pilot, "memory")
        assert "4,456,448 B live after line 226 (peak)" in told
        assert "2,097,152 47.06 % buf0 211–return addmm walks.py:16" in told


async def test_what_recompiled_and_why_with_one(walks: Dump) -> None:
    async with InspectApp(walks).run_test(size=SIZE) as pilot:
        await press(pilot, "B")
        assert "Recompiled later, because 0/1 size of batch in dimension 0: 1024 → 768" in on_screen(pilot)


def detail(pilot: Pilot[None], view: str) -> str:
    """The pane below a view's rows, words apart by one space."""
    sheet = lines(pilot, f"{view}-detail").sheet
    return " ".join(" ".join(sheet.plain(index) for index in range(len(sheet))).split())
