"""Recorded loops give the same whether they are computed at once or in parts, in their dtypes and in fp64."""

import math
from typing import Any

import pytest
import sympy
import torch
from torch.utils._sympy.functions import FloorDiv, ModularIndexing

from inspect_compile.lowering.intervention.numerics.steps import loops
from inspect_compile.lowering.intervention.numerics.steps.loops import Loops, Operand
from inspect_compile.lowering.intervention.numerics.steps.recorded import OpsCall, Recorded, Value

CHANNELS, PARTS = 6, 5
I0, I1, R0, FOUND = (sympy.Symbol(name, integer=True, nonnegative=True) for name in ("i0", "i1", "r0", "indirect0"))


def of(x: torch.Tensor, each: int, *operations: OpsCall, indirect: dict[Any, Value]) -> Loops:
    """Sums `each` elements of a channel of the images `x` in each part; the last one has less to sum."""
    recorded = Recorded(
        operations, indirect, Value(len(operations) - 1), ((I0, CHANNELS), (I1, PARTS)), ((R0, each),), "sum", 0,
        torch.float32,
    )  # fmt: skip
    named = [("x", x), ("scale", torch.empty(CHANNELS)), ("order", torch.empty(CHANNELS))]
    return Loops("buf0", recorded, [Operand(name, tuple(one.shape), one.stride()) for name, one in named], ())


@pytest.mark.parametrize("at_once", [1 << 22, 150, 1], ids=["whole", "in parts", "one row each"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_reduction_in_parts(dtype: torch.dtype, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "_AT_ONCE", at_once)
    torch.manual_seed(0)
    x = torch.randn(3, CHANNELS, 7, 5, dtype=dtype)
    scale, order = torch.randn(CHANNELS, dtype=dtype), torch.tensor([9, 3, 1, 0, 5, 4, 2])[1:]
    size = 3 * 7 * 5
    each = math.ceil(size / PARTS)
    flat = R0 + each * I1
    index = CHANNELS * 35 * FloorDiv(flat, 35) + 35 * I0 + ModularIndexing(flat, 1, 35)
    asked = [
        OpsCall("index_expr", (flat, torch.int32)),
        OpsCall("index_expr", (sympy.Integer(size - 4), torch.int32)),
        OpsCall("lt", (Value(0), Value(1))),
        OpsCall("load", ("x", index)),
        OpsCall("load", ("order", I0)),
        OpsCall("identity", (Value(4),)),
        OpsCall("load", ("scale", FOUND)),
        OpsCall("mul", (Value(3), Value(6))),
        OpsCall("load", ("x", index)),
        OpsCall("add", (Value(7), Value(8))),
        OpsCall("where", (Value(2), Value(9), 0.0)),
    ]
    computed = of(x, each, *asked, indirect={FOUND: Value(5)})

    found = computed(dtype, x.device, [x, scale, order], ())

    rows = x.transpose(0, 1).reshape(CHANNELS, size) * (1 + scale[order])[:, None]
    rows[:, size - 4 :] = 0
    wanted = torch.nn.functional.pad(rows, (0, each * PARTS - size)).view(CHANNELS, PARTS, each).sum(-1)
    assert found.dtype == dtype
    torch.testing.assert_close(found, wanted)
