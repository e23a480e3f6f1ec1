"""Kernels of libraries in the replay of a CUDA graph: each of the call that every way to share them out gives it."""

import pytest

from inspect_compile.analysis.runtime.extern_order import MOST, shared_out
from inspect_compile.analysis.runtime.launch_plan import Step
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.profiles import GpuRun
from tests.handmade import kernel

GEMM = "sm80_xmma_gemm_f32f32_tn_n_tilesize32x32x8_aligna4_alignc4_execute_kernel__5x_cublas"
PARTS = GEMM.replace("execute_kernel", "execute_split_k_kernel")
COPY, FLASH = "memcpy32_post", "fmha_cutlassB_f32_aligned_64x64_k64_sm80(PyTorchMemEffAttention::Params)"
MUL, MINE = "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float> >", "my_own_kernel"


def _steps(*names: str) -> list[Step]:
    found = []
    for number, name in enumerate(names):
        own = kernel(name, f"op{number}", kind="extern", launches=(number + 1,))
        found.append(Step(Launch("g", own, number + 1, (), (), (), ()), name, ""))
    return found


MM, ADDMM, ATTENTION = "extern_kernels.mm", "extern_kernels.addmm", "torch.ops.aten._efficient_attention_backward"
OWN = "torch.ops.mine.f"


@pytest.mark.parametrize(
    ("calls", "names", "expected"),
    [
        ([MM, MM], [GEMM, PARTS, GEMM, PARTS], [0, 0, 1, 1]),
        ([MM, MM, MM], [GEMM, GEMM, PARTS, GEMM], [0, 1, 1, 2]),
        ([MM, ADDMM], [GEMM, COPY, GEMM], [0, 1, 1]),
        ([MM, ATTENTION, MM], [GEMM, MUL, FLASH, MUL, GEMM], [0, 1, 1, None, 2]),  # of it, or a copy for the matmul
        ([MM, MM], [GEMM, GEMM, GEMM], [None, None, None]),
        ([MM, MM], [GEMM, MINE, GEMM], [0, None, 1]),
        ([OWN, MM], [MINE, MUL, GEMM], [0, None, 1]),
        ([MM, OWN], [GEMM, MINE, MUL], [0, 1, 1]),
        ([OWN, OWN], [MINE, MUL, MINE], [0, None, 1]),
        ([MM, MM], [GEMM], [None]),
    ],
)
def test_kernels_are_shared_out(calls: list[str], names: list[str], expected: list[int | None]) -> None:
    runs = [GpuRun(number, "kernel", name, float(number), 1.0) for number, name in enumerate(names)]
    assert shared_out(_steps(*calls), runs) == expected


@pytest.mark.parametrize("more", [0, 1])
def test_of_very_many_calls_none_is_told(more: int) -> None:
    """As many kernels as calls: each of its own, up to a number that no program comes near."""
    names = [MM] * (MOST + more)
    runs = [GpuRun(number, "kernel", GEMM, float(number), 1.0) for number in range(len(names))]
    assert shared_out(_steps(*names), runs) == ([None] * len(names) if more else list(range(len(names))))
