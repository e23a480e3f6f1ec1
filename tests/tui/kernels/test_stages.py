"""A kernel's source beside its stages in the app, from TTIR to machine code."""

from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.launch.assembly import assembly
from inspect_compile.tui.app import InspectApp
from inspect_compile.tui.views.view import View
from tests.stages import KERNEL, LABELS, LAUNCHER, staged_dump
from tests.tui.driving import go_to, lines, main_screen, press, row, said, settled, shown, until
from tests.tui.test_snapshots import Compare, pytestmark

FORMS = ("ttir", "ttgir", "llir", "ptx", "sass")
LINES = {
    "ttir": "tt.func public @triton",
    "ttgir": "#blocked = #ttg.blocked<",
    "llir": "define ptx_kernel void @",
    "ptx": ".target sm_90a",
    "sass": "LDC R1, c[0x0][0x28]",
}


@pytest.fixture
def dump(here: Path) -> Dump:
    staged_dump(here / "d")
    return Dump(Path("d"))


def texts(pilot: Pilot[None], name: str) -> list[str]:
    sheet = lines(pilot, name).sheet
    return [sheet.plain(index) for index in range(len(sheet))]


async def test_each_stage_in_turn(dump: Dump, capsys: pytest.CaptureFixture[str]) -> None:
    async with InspectApp(dump).run_test(size=(120, 40)) as pilot:
        await press(pilot, "6")
        assert main_screen(pilot).query_one("#kernels", View).modes == ("source", *FORMS)
        assert shown(pilot) == ["source", "kernels"]
        assert not lines(pilot, "kernels-stage").display
        source = texts(pilot, "kernels-detail")
        assert source[0] == KERNEL
        for form in FORMS:
            await press(pilot, "s")
            assert shown(pilot) == ["kernels"], "the width of all views"
            assert texts(pilot, "kernels-detail") == source
            stage = texts(pilot, "kernels-stage")
            assert stage[0] == f"{form}   {LABELS[0]}   1 of 2, c: the next"
            assert stage[1].startswith("XBLOCK=256, 4 warps: 16 registers, no spills")
            assert "instructions" in stage[2]
            assert any(LINES[form] in line for line in stage)
            assert not any(".loc" in line or "#loc =" in line for line in stage)
        go_to(pilot, "kernels-rows", LAUNCHER)
        await settled(pilot)
        assert " ".join(texts(pilot, "kernels-stage")).endswith("no sass: torch kept its launcher alone")
        go_to(pilot, "kernels-rows", "extern_kernels.mm")
        await settled(pilot)
        assert " ".join(texts(pilot, "kernels-stage")[1:]) == "no sass: Triton compiled no kernel of this name"
        # Another stage leaves the cursor where it is; behind the last one the source is alone again.
        go_to(pilot, "kernels-rows", LAUNCHER)
        await press(pilot, "s")
        assert row(pilot, "kernels-rows").startswith(LAUNCHER)
        assert shown(pilot) == ["source", "kernels"]
        await press(pilot, "s")
        go_to(pilot, "kernels-rows", KERNEL)
        await settled(pilot)
        _, *words = main_screen(pilot).command.split()
    assert words[2:] == ["kernel", KERNEL, "--stage", "ttir"]
    assert main(words) == 0
    assert LINES["ttir"] in capsys.readouterr().out


async def test_a_line_and_what_became_of_it(dump: Dump) -> None:
    async with InspectApp(dump).run_test(size=(120, 30)) as pilot:
        await press(pilot, "6", *"ssss")
        assert main_screen(pilot).command == f"inspect-compile show d kernel {KERNEL} --stage ptx"
        source, stage = lines(pilot, "kernels-detail"), lines(pilot, "kernels-stage")
        source.focus()
        go_to(pilot, "kernels-detail", "tmp2 = triton_helpers.maximum")
        await settled(pilot)
        lit = [stage.sheet.plain(index).split()[0] for index in sorted(stage.linked)]
        assert lit == ["setp.lt.f32", "setp.lt.f32", "selp.f32", "selp.f32"]
        assert stage.cursor == min(stage.linked)
        assert stage.scroll_y <= stage.cursor < stage.scroll_y + stage.size.height
        assert said(pilot, "context").startswith(" relu"), "and its node is selected"
        # And back.
        await press(pilot, "tab")
        assert stage.has_focus
        go_to(pilot, "kernels-stage", "st.global.v2")
        await settled(pilot)
        assert [source.sheet.key(index) for index in source.linked] == ["26"]
        assert not stage.linked
        assert said(pilot, "context").startswith(" relu")
        # What is of no line lights up nothing.
        go_to(pilot, "kernels-stage", ".version")
        await settled(pilot)
        assert not source.linked
        # Another stage keeps the line.
        source.focus()
        go_to(pilot, "kernels-detail", "tl.store(")
        await press(pilot, "s")
        assert row(pilot, "kernels-detail").strip().startswith("tl.store(")
        assert any("STG.E" in stage.sheet.plain(index) for index in stage.linked)


async def test_the_next_configuration(dump: Dump) -> None:
    async with InspectApp(dump).run_test(size=(100, 30)) as pilot:
        await press(pilot, "6", *"ssss", "c")
        assert texts(pilot, "kernels-stage")[0] == f"ptx   {LABELS[1]}   2 of 2, c: the next"
        assert not any("v2.b32" in line for line in texts(pilot, "kernels-stage"))
        await press(pilot, "s")
        assert "no sass of this configuration" in texts(pilot, "kernels-stage")[2]
        await press(pilot, "c")
        assert texts(pilot, "kernels-stage")[0].startswith(f"sass   {LABELS[0]}   1 of 2")


async def test_without_triton_there_are_no_stages(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(120, 40)) as pilot:
        await press(pilot, "6", "c")
        assert said(pilot, "kernels-title").split()[:4] == ["6", "Kernels", "source", "asm"]
        assert "cpp_fused" in lines(pilot, "kernels-detail").sheet.plain(0)
        assert shown(pilot) == ["source", "kernels"]


async def test_the_assembly_of_a_kernel_of_c(mixed: Dump) -> None:
    async with InspectApp(mixed, None, partial(assembly, is_trusted=True)).run_test(size=(160, 45)) as pilot:
        await press(pilot, "6")
        go_to(pilot, "kernels-rows", "cpp_fused_gelu_view_2")
        await press(pilot, "s")
        await until(pilot, lambda: "instructions" in " ".join(texts(pilot, "kernels-stage")))
        stage = texts(pilot, "kernels-stage")
        assert stage[0].startswith("asm   compiled again here, with the flags of torch ")
        assert any(" ret" in line for line in stage)
        assert "kernel cpp_fused_gelu_view_2 --stage asm --graph forward" in said(pilot, "command")
        go_to(pilot, "kernels-detail", ".erf()")
        await settled(pilot)
        assert lines(pilot, "kernels-stage").linked
        go_to(pilot, "kernels-rows", "extern_kernels.addmm")
        await settled(pilot)
        assert (
            " ".join(texts(pilot, "kernels-stage")[1:])
            == "no asm: only C++ kernels have it, if their source was recorded"
        )


async def test_a_source_that_is_not_of_this_machine_is_not_compiled(
    mixed: Dump, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This machine may have compiled that very kernel, in the place that torch's cache has without this.
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "no_such_cache"))
    async with InspectApp(mixed, None, assembly).run_test(size=(120, 40)) as pilot:
        await press(pilot, "6", "s")
        await until(pilot, lambda: "--compile" in " ".join(texts(pilot, "kernels-stage")))
        assert "if you trust the dump" in " ".join(texts(pilot, "kernels-stage"))


async def test_what_comes_before_the_first_loop_is_folded(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(160, 45)) as pilot:
        await press(pilot, "6")
        assert not any("#include" in line for line in texts(pilot, "kernels-detail"))
        await press(pilot, "u")
        assert any(line.startswith("#include") for line in texts(pilot, "kernels-detail"))
        await press(pilot, "u")
        assert not any("#include" in line for line in texts(pilot, "kernels-detail"))


@pytest.mark.parametrize("size", [(100, 30), (160, 45)], ids=lambda size: str(size[0]))
def test_side_by_side(dump: Dump, snap_compare: Compare, size: tuple[int, int]) -> None:
    async def before(pilot: Pilot[None]) -> None:
        await press(pilot, "6", *"ssss", "tab")
        go_to(pilot, "kernels-detail", "tmp2 =")
        await settled(pilot)

    assert snap_compare(InspectApp(dump), terminal_size=size, run_before=before)


__all__ = ["pytestmark"]
