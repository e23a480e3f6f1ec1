"""What torch writes above a Triton kernel."""

import pytest

from inspect_compile.analysis.kernels.triton_heuristics import Heuristics, heuristics

SOURCE = """
import triton

@triton_heuristics.reduction(
    size_hints={'x': 32, 'r0_': 16},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'device': DeviceProperties(type='cuda', cc=90), 'configs': [{(0,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'hints': set(), 'num_load': 1, 'num_store': 2, 'num_reduction': 4,
        'tiling_scores': {'x': 0, 'r0_': 3840}}
)
@triton.jit
def triton_red_fused_0(x, R0_BLOCK : tl.constexpr):
    rnumel: tl.constexpr = 16
"""


def test_what_stands_there_is_read() -> None:
    assert heuristics(SOURCE) == Heuristics(
        name="reduction",
        size_hints={"x": 32, "r0_": 16},
        reduction_hint="INNER",
        grid="Grid1D",
        scores={"x": 0, "r0_": 3840},
        persistent=False,
        loads=1,
        stores=2,
        reductions=4,
        constants={"rnumel": "16"},
    )


@pytest.mark.parametrize(
    "source",
    [
        "",
        "@triton.jit\ndef f(): pass",
        "@triton_heuristics.pointwise(",
        "@triton_heuristics.pointwise(\n" + "x=" * 200_000 + "\n@triton.jit",
    ],
)
def test_nothing_is_made_up(source: str) -> None:
    assert heuristics(source) is None


@pytest.mark.parametrize(
    "call", ["(((", "(" * 5_000 + ")" * 5_000, "(size_hints={'x': 10**9**9, 1: 2, **a}, **b)", "(size_hints=[1])"]
)
def test_nothing_is_run(call: str) -> None:
    found = heuristics(f"@triton_heuristics.pointwise({call})\n@triton.jit\n")
    assert found is not None
    assert (found.name, found.size_hints) == ("pointwise", {})
