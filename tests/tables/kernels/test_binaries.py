"""What is told of compiled kernels, in the table, beside the kernels, and in kernels.txt."""

from pathlib import Path

import pytest

from inspect_compile import tables
from inspect_compile.dump import Dump
from inspect_compile.facts import Binary, Choice, Chosen, Stage, Tuning
from inspect_compile.finish.kernels_text import kernels_text
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.tables.block_lines import plain_text
from tests.conftest import Golden
from tests.handmade import GRAPH, graph, kernel, made

NAME = "triton_per_fused_softmax_0"


def binary(block: int, name: str = NAME, **more: object) -> Binary:
    label = f"XBLOCK{block}-w4-s1"
    found = {
        "graph": GRAPH,
        "kernel": name,
        "label": label,
        "config": {"XBLOCK": block},
        "num_warps": 4,
        "num_stages": 1,
        "num_ctas": 1,
        "target": "sm_90",
        "stages": (Stage("ttir", "kernels/x.ttir", 2000), Stage("cubin", "kernels/x.cubin", 10_400)),
        "registers": 32 * block,
        "spills": 0,
        "shared": 1024,
        "seconds": 0.123,
    }
    return Binary(**{**found, **more})  # type: ignore[arg-type]


@pytest.fixture
def dump(tmp_path: Path) -> Dump:
    timed, remembered, odd = "triton_poi_fused_add_1", "triton_poi_fused_mul_2", "triton_poi_[red]odd\x1b[31m_3"
    return made(
        tmp_path,
        graph(),
        *(kernel(name, kind="triton", device="cuda:0") for name in (NAME, timed, remembered, odd, "cpp_fused_4")),
        binary(1),
        binary(2, spills=16),
        binary(1, timed, target="gfx942", registers=28, allocated_registers=169, num_warps=1, config={"XBLOCK": 64}),
        binary(4, timed, target="gfx942", registers=12, config={"XBLOCK": 512, "waves_per_eu": 2}, seconds=None),
        Tuning(graph=GRAPH, number=0, about="kernel", name=timed),
        Choice(graph=GRAPH, tuning=0, label="XBLOCK1-w4-s1", kind="configuration", milliseconds=0.0123),
        Choice(graph=GRAPH, tuning=0, label="XBLOCK4-w4-s1", kind="configuration", milliseconds=1.5),
        Chosen(graph=GRAPH, tuning=0, label="XBLOCK1-w4-s1", by="time"),
        binary(1, remembered, is_remembered=True, num_ctas=2),
        binary(1, odd, stages=(), registers=None, spills=None, shared=None, target="", seconds=None, left_out="gone"),
    )


@pytest.mark.parametrize("width", [80, 110, 160])
@pytest.mark.parametrize("name", ["binaries", "kernels"])
def test_the_table(dump: Dump, golden: Golden, name: str, width: int) -> None:
    text = plain_text(tables.table(name, Graphs(dump)), width)
    assert "\x1b" not in text
    golden.check(text)


def test_kernels_txt(dump: Dump, golden: Golden) -> None:
    golden.check(kernels_text(CompiledGraph(dump, GRAPH)))
