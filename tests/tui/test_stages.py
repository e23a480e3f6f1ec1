"""The forms of a kernel in the app, from its source to machine code."""

from pathlib import Path

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import Binary, Stage
from inspect_compile.tui.app import InspectApp
from tests.handmade import GRAPH, graph, kernel, made
from tests.tui.driving import go_to, lines, main_screen, press, row, said, settled

NAMES = ("triton_poi_fused_add_0", "triton_poi_fused_mul_1", "extern_kernels.mm")
TEXTS = {
    "ttir": "tt.func public @kernel",
    "ttgir": "#blocked = #ttg.blocked<[bold]>",
    "llir": "define ptx_kernel void @kernel\x1b[31m",
    "ptx": ".target sm_90a",
    "sass": "/*0000*/  LDC R1, c[0x0][0x28] ;",
}


@pytest.fixture
def dump(here: Path) -> Dump:
    """The first kernel has all, the second a launcher alone, the third is extern."""
    folder = "kernels/triton_poi_fused_add_0/XBLOCK256-w4-s1"
    stages = tuple(Stage(name, f"{folder}/{NAMES[0]}.{name}", 9) for name in ("ttir", "ttgir", "llir", "ptx", "cubin"))
    found = made(
        here / "d",
        graph(),
        kernel(NAMES[0], kind="triton", source="kernels/triton_poi_fused_add_0/source.py", launches=(7,)),
        kernel(NAMES[1], kind="triton", launches=(8,)),
        kernel(NAMES[2], kind="extern", launches=(9,)),
        Binary(
            graph=GRAPH,
            kernel=NAMES[0],
            label="XBLOCK256-w4-s1",
            config={"XBLOCK": 256},
            num_warps=4,
            target="sm_90",
            stages=stages,
            registers=40,
            spills=0,
            shared=0,
        ),
        Binary(graph=GRAPH, kernel=NAMES[1], label="w4-s1", left_out="torch kept its launcher alone"),
    )
    place = found.folder(GRAPH) / folder
    place.mkdir(parents=True)
    for name, text in TEXTS.items():
        (place / f"{NAMES[0]}.{name}").write_text(f"{text}\n" * 40)
    (place.parent / "source.py").write_text("@triton.jit\n")
    return Dump(Path("d"))


async def test_each_form_of_a_kernel_in_turn(dump: Dump, capsys: pytest.CaptureFixture[str]) -> None:
    async with InspectApp(dump).run_test(size=(120, 40)) as pilot:

        def shown() -> list[str]:
            sheet = lines(pilot, "kernels-detail").sheet
            return ["".join(span.text for span in sheet.spans(index, 100)) for index in range(len(sheet))]

        await press(pilot, "6")
        assert "disasm" in said(pilot, "kernels-title")
        told = "XBLOCK=256, 4 warps: 40 registers, no spills, 0 B shared, occupancy 75 % registers"
        assert shown()[0] == NAMES[0]
        assert shown()[-1] == "@triton.jit"
        assert told in shown()
        for form, text in zip(("ttir", "ttgir", "llir", "asm", "disasm"), TEXTS.values(), strict=True):
            await press(pilot, "s")
            assert shown()[:2] == [NAMES[0], told]
            assert shown()[2:] == [text.partition("\x1b")[0]] * 40
            assert main_screen(pilot).command == f"inspect-compile show d binaries --graph {GRAPH} --json", form
        go_to(pilot, "kernels-rows", NAMES[1])
        await settled(pilot)
        assert shown()[-1] == "no disasm: torch kept its launcher alone"
        go_to(pilot, "kernels-rows", NAMES[2])
        await settled(pilot)
        assert shown()[-1] == "no disasm: Triton compiled nothing of this name"
        # Another form leaves the cursor where it is.
        go_to(pilot, "kernels-rows", NAMES[1])
        await press(pilot, "s")
        assert row(pilot, "kernels-rows").startswith(NAMES[1])
        await press(pilot, "s")
        assert shown()[0] == NAMES[1]
        assert "ttir" in said(pilot, "kernels-title")
        _, *words = main_screen(pilot).command.split()
    assert main(words) == 0
    assert capsys.readouterr().out.count('"fact":"configuration"') == 1


async def test_a_file_that_is_not_there(dump: Dump) -> None:
    for path in dump.folder(GRAPH).rglob("*.sass"):
        path.unlink()
    async with InspectApp(dump).run_test(size=(120, 40)) as pilot:
        await press(pilot, "6", "s", "s", "s", "s", "s")
        sheet = lines(pilot, "kernels-detail").sheet
        assert sheet.plain(len(sheet) - 1).endswith(".sass is not made (yet): they are made at the end of a run")


async def test_without_triton_there_are_no_forms(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(120, 40)) as pilot:
        await press(pilot, "6", "s")
        assert "ttir" not in said(pilot, "kernels-title")
        assert "cpp_fused" in lines(pilot, "kernels-detail").sheet.plain(0)
