"""What a comparison of `show memory` with an allocator's figures has to know."""

from pathlib import Path

import pytest

from inspect_compile.analysis.memory.uncounted import Uncounted, uncounted
from inspect_compile.facts import MemoryPlan, Run
from inspect_compile.graph import CompiledGraph
from inspect_compile.knowledge.memory.workspaces import cublas_workspace, library
from inspect_compile.tables.memory.memory_text import uncounted_notes
from tests.handmade import GRAPH, graph, line, made

MM = {"kernel": "extern_kernels.mm", "torch_type": "ExternKernelOutLine"}
CONVOLUTION = {"kernel": "torch.ops.aten.convolution_backward.default", "torch_type": "ExternKernelAllocLine"}
H200 = "cuda (NVIDIA H200, sm_90)"


def test_of_a_gpu_libraries_workspaces_and_blocks(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(device="cuda:0"),
        line(0, "allocate", buffer="buf0", bytes=100),
        line(1, "extern", buffer="buf0", **MM),
        line(2, "extern", buffer="buf1", bytes=513, **CONVOLUTION),
        line(3, "free", buffer="buf0"),
        MemoryPlan(graph=GRAPH, outputs=("buf1",)),
        run=Run(status="finished", device=H200, versions={"torch": "2.11.0+cu130"}),
    )

    found = uncounted(CompiledGraph(dump, GRAPH))

    assert found == Uncounted({"cuBLAS": 1, "cuDNN": 1}, 32 << 20, 512 + 1024)
    assert [note.partition(" ")[0] for note in uncounted_notes(found)] == ["not", "not", "1,536"]
    assert "cuBLAS (1 call), cuDNN (1 call)" in uncounted_notes(found)[0]
    assert "33,554,432 B" in uncounted_notes(found)[1]


def test_of_a_cpu_extern_kernels(tmp_path: Path) -> None:
    dump = made(tmp_path, graph(device="cpu"), line(0, "extern", buffer="buf0", bytes=8, **MM))

    assert uncounted(CompiledGraph(dump, GRAPH)) == Uncounted({"extern kernels": 1})
    assert uncounted_notes(Uncounted({})) == []


@pytest.mark.parametrize(
    ("capability", "torch", "config", "workspace"),
    [
        ((9, 0), "2.11.0", "", 32 << 20),
        ((10, 0), "2.13.0+cu130", "", 32 << 20),
        ((8, 0), "2.12.1", "", 8_519_680),
        ((9, 0), "2.11.0", ":4096:8", 32 << 20),
        ((9, 0), "2.11.0", ":0:0", 0),
        ((9, 0), "2.11.0", "much", None),
        ((9, 0), "2.15.0", "", None),
        ((9, 0), "", "", None),
    ],
)
def test_what_torch_keeps_for_cublas(
    capability: tuple[int, int], torch: str, config: str, workspace: int | None
) -> None:
    assert cublas_workspace(capability, torch, config) == workspace


@pytest.mark.parametrize(
    ("kernel", "whose"),
    [
        ("extern_kernels.addmm", "cuBLAS"),
        ("torch.ops.aten.convolution_backward.default", "cuDNN"),
        ("torch.ops.aten._scaled_dot_product_efficient_attention.default", "attention"),
        ("aten.randint.low_out", "other operators"),
        ("", "other operators"),
    ],
)
def test_whose_a_call_is(kernel: str, whose: str) -> None:
    assert library(kernel) == whose
