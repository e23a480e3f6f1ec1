"""The sheets of the autotuning, and the lines about a kernel's shape, as a person sees them."""

from pathlib import Path
from typing import Any

import pytest

from inspect_compile import tables
from inspect_compile.dump import Dump
from inspect_compile.facts import Binary, Choice, Chosen, Loop, LoopNest, Tiling, Tuning
from inspect_compile.graph import Graphs
from inspect_compile.tables.block_lines import plain_text
from inspect_compile.tables.styled_text import Block
from inspect_compile.tui.models.kernels import autotune_sheet
from tests.conftest import Golden
from tests.handmade import GRAPH, graph, kernel, made

POINTWISE, REDUCTION, CPP = "triton_poi_fused_add_0", "triton_red_fused_sum_1", "cpp_fused_2"


def binary(label: str, **more: Any) -> Binary:
    known = {"num_warps": 4, "registers": 32, "shared": 0, "spills": 0, "target": "sm_90", **more}
    return Binary(graph=GRAPH, kernel=POINTWISE, label=label, **known)


def choice(tuning: int, label: str, milliseconds: float | None, kind: str, **more: Any) -> Choice:
    return Choice(graph=GRAPH, tuning=tuning, label=label, milliseconds=milliseconds, kind=kind, **more)


@pytest.fixture
def dump(tmp_path: Path) -> Dump:
    found = made(
        tmp_path,
        graph(),
        kernel("extern_kernels.mm", kind="extern", form="extern", operations=("op0",)),
        kernel(POINTWISE, kind="triton", form="pointwise", inplace=("buf1←buf0",), launches=(1,)),
        kernel(REDUCTION, kind="triton", form="reduction", source="kernels/r/source.py", removed=("buf2",)),
        kernel(CPP, kind="cpp", form="C++"),
        Tuning(
            graph=GRAPH,
            number=0,
            about="operation",
            name="mm",
            operation="op0",
            nodes=("mm",),
            inputs=("float16[512, 512]", "float16[512, s0]"),
            in_worker=True,
            seconds=12.5,
        ),
        choice(0, "triton_mm_1", 0.0123, "triton template", config={"BLOCK_M": 64, "num_warps": 4}),
        choice(0, "triton_mm_2", None, "triton template", why="OutOfResources: [red]shared\x1b[31m memory"),
        choice(0, "mm", 0.0101, "extern"),
        Chosen(graph=GRAPH, tuning=0, label="mm", by="scheduler"),
        Tuning(graph=GRAPH, number=1, about="kernel", name=POINTWISE, seconds=0.25),
        choice(1, "XBLOCK256-w4-s1", 1.5, "configuration", config={"XBLOCK": 256}),
        choice(1, "XBLOCK512-w4-s1", None, "configuration", config={"XBLOCK": 512}, why="register spilling"),
        choice(1, "XBLOCK128-w4-s1", 1.25, "configuration", step="descent", config={"XBLOCK": 128}),
        Chosen(graph=GRAPH, tuning=1, label="XBLOCK128-w4-s1", by="descent"),
        binary("XBLOCK256-w4-s1"),
        binary("XBLOCK512-w4-s1", registers=255, spills=64),
        binary("XBLOCK128-w4-s1", registers=16),
        Tiling(
            graph=GRAPH,
            kernel=POINTWISE,
            sizes={"y": "512", "x": "s0", "r0_": "1"},
            by="coalescing",
            scores={"y": 2048, "x": 4096},
            uncoalesced=512,
            split="d0 / 32",
        ),
        Tiling(
            graph=GRAPH,
            kernel=REDUCTION,
            sizes={"x": "8", "r0_": "4096"},
            by="votes",
            persistent=False,
            cooperative=True,
            hint="INNER",
        ),
        LoopNest(
            graph=GRAPH,
            kernel=CPP,
            loops=(Loop("64", is_parallel=True), Loop("512", "16", is_reduction=True, is_vectorized=True)),
            threads=4,
            depth=1,
            elements=32768,
            chunk=512,
            vector=16,
            instructions="avx512 amx",
            versions=("vector", "scalar"),
        ),
        LoopNest(graph=GRAPH, kernel=CPP, loops=(Loop("8"),), threads=4, elements=8, chunk=512, why="it is too short"),
    )
    source = found.folder(GRAPH) / "kernels" / "r" / "source.py"
    source.parent.mkdir(parents=True)
    source.write_text(
        "@triton_heuristics.reduction(\n    size_hints={'x': 8, 'r0_': 4096},\n"
        "    inductor_meta={'grid_type': 'CooperativeReductionGrid'},\n)\n@triton.jit\ndef f():\n    pass\n"
    )
    return found


def shown(found: Block, width: int) -> str:
    text = plain_text(found, width)
    assert "\x1b" not in text
    return text


@pytest.mark.parametrize("width", [80, 120, 160])
def test_the_sheets(dump: Dump, golden: Golden, width: int) -> None:
    golden.check(shown(tables.table("autotune", Graphs(dump)), width))


def test_a_name_chooses_and_a_limit_says_what_is_left(dump: Dump, golden: Golden) -> None:
    golden.check(shown(tables.table("autotune", Graphs(dump), names=(POINTWISE,), limit=2, dump_argument="d1"), 100))


def test_nothing_was_chosen_by_measuring(tmp_path: Path) -> None:
    assert "nothing was autotuned" in shown(tables.table("autotune", Graphs(made(tmp_path, graph()))), 100)


def test_the_shape_of_kernels(dump: Dump, golden: Golden) -> None:
    golden.check(shown(tables.table("kernel", Graphs(dump), names=(POINTWISE, REDUCTION, CPP)), 120))


def test_the_summary_has_a_line(dump: Dump) -> None:
    assert "tuned: 1 operation, 1 kernel, 6 choices; 12.8 s spent on benchmarking" in shown(
        tables.table("summary", Graphs(dump)), 120
    )


def test_the_app_shows_the_same(dump: Dump, golden: Golden) -> None:
    kernels = {kernel.name: kernel for kernel in dump.rows(type(kernel("k")), GRAPH)}
    sheets = [autotune_sheet(dump, kernels[name]) for name in ("extern_kernels.mm", POINTWISE, CPP)]
    golden.check("\n\n".join("\n".join(sheet.plain(index) for index in range(len(sheet))) for sheet in sheets) + "\n")
