"""Operators that only a program defines are stood in for, by what was recorded of their calls."""

import ast
from typing import Any

import pytest
import torch

from inspect_compile.lowering.intervention.replay.inputs import Symbols
from inspect_compile.lowering.intervention.replay.known import Known
from inspect_compile.lowering.intervention.replay.runnable import Body, RefusedError
from inspect_compile.lowering.intervention.replay.schemas import Returned, own_calls, schema
from inspect_compile.lowering.intervention.replay.stand_ins import StandIns
from inspect_compile.torch_compat.compilers import FAKE_TENSOR_MODE

WRITING = "torch.ops.higher_order.auto_functionalized_v2"


def body(*lines: str) -> Body:
    (function,) = ast.parse("def forward(self, x, y, s0):\n" + "".join(f"    {line}\n" for line in lines)).body
    assert isinstance(function, ast.FunctionDef)
    return Body(function, {})


def schema_of(*lines: str, count: int = 1, is_several: bool = False) -> str:
    calls = list(own_calls(body(*lines)))
    return schema(calls, {call.node: ("x", "y") for call in calls}, Returned(count, is_several))


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (
            ("a = torch.ops.t.baz.default(x, 2, 0.5, True, 'b')",),
            "baz(Tensor a0, SymInt a1, float a2, bool a3, str a4)",
        ),
        (("a = torch.ops.t.baz.over([x, None], [2, s0], -inf)",), "baz.over(Tensor?[] a0, SymInt[] a1, float a2)"),
        (
            ("a = torch.ops.t.baz.default(x, dtype = torch.float32, device = device(type='cpu'))",),
            "baz(Tensor a0, *, ScalarType dtype, Device device)",
        ),
        (
            ("a = torch.ops.t.baz.default(x, 1)", "b = torch.ops.t.baz.default(y, 0.5, None, flag = True)"),
            "baz(Tensor a0, float a1, Tensor? a2=None, *, bool? flag=None)",
        ),
        (
            (f"a = {WRITING}(torch.ops.t.baz.default, x = x, n = 2, _out_base_index = 0, _all_bases = [y])",),
            "baz(*, Tensor(a!) out, Tensor x, SymInt n)",
        ),
    ],
)
def test_a_schema_is_made_of_the_calls(lines: tuple[str, ...], text: str) -> None:
    assert schema_of(*lines) == f"{text} -> Tensor"


def test_a_schema_says_what_comes_back() -> None:
    line = "a = torch.ops.t.baz.default(x)"
    assert schema_of(line, count=2, is_several=True).endswith("-> (Tensor, Tensor)")
    assert schema_of(line, count=0, is_several=True).endswith("-> ()")


@pytest.mark.parametrize(
    "lines",
    [
        ("a = torch.ops.t.baz.default({'a': x})",),
        ("a = torch.ops.t.baz.default([[1], [2]])",),
        ("a = torch.ops.t.baz.default(x)", "b = torch.ops.t.baz.default('x')"),
    ],
)
def test_what_no_schema_can_have_is_told(lines: tuple[str, ...]) -> None:
    with pytest.raises(
        RefusedError, match=r"calls t\.baz\.default, which only its program defines, with .* no stand-in"
    ):
        schema_of(*lines)


def test_torchs_own_operators_are_none_of_the_programs() -> None:
    lines = (
        "a = torch.ops.aten.add.Tensor(x, y)",
        "b = torch.ops.prims.sum.default(x)",
        "c = torch.ops.load_library(x)",
    )
    assert not list(own_calls(body(*lines)))


def known(**own: Any) -> Known:
    return Known(graph="model__0_inference_0.0", kind="inference", own=own)


def test_a_stand_in_returns_what_was_recorded() -> None:
    lines = ("a = torch.ops.test_stand_in.two.default(x, 2)", "b = torch.ops.test_stand_in.one.default(y)")
    outputs = {"1": ("int64", ["s0", 3], [3, 1], "cpu")}
    of_b = {"": ("bfloat16", [4, 4], [1, 4], "")}
    said: list[str] = []
    stand_ins = StandIns(
        body(*lines),
        known(
            a={"outputs": outputs, "tensors": ["x"], "is_read": True},
            b={"outputs": of_b, "tensors": ["y"], "is_read": True},
        ),
        lambda code, sentence: said.append(f"{code}: {sentence}"),
    )
    symbols = Symbols({"s0": 8}, ())
    stand_ins.use(symbols, lambda place: place)

    with FAKE_TENSOR_MODE.load()(shape_env=symbols.shapes):
        x = torch.empty(5)
        stand_ins.node("a")
        unread, read = torch.ops.test_stand_in.two.default(x, 2)
        _, again = torch.ops.test_stand_in.two.default(x, 2)  # as Inductor asks
        stand_ins.node("b")
        one = torch.ops.test_stand_in.one.default(x)
        with pytest.raises(RefusedError, match=r"what test_stand_in\.two\.default returns of .* is not known"):
            torch.ops.test_stand_in.two.default(x, 3)

    assert (unread.numel(), [str(size) for size in read.shape], read.dtype) == (0, ["s0", "3"], torch.int64)
    assert [str(size) for size in again.shape] == ["s0", "3"]
    assert (tuple(one.shape), one.stride(), one.dtype) == ((4, 4), (1, 4), torch.bfloat16)
    assert said[0].startswith("replay-stand-in: test_stand_in.two.default is the program's own")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("a = torch.ops.test_stand_in.other.default(x)", "what it returns was not recorded"),
        ("a = torch.ops.load_library.other.default(x)", "which is not the name of an operator"),
        (
            "a = torch.ops.profiler._record_function_exit._RecordFunction(x)",
            "which is here, and is not an operator of a graph",
        ),
    ],
)
def test_what_cannot_be_stood_in_for_is_told(line: str, told: str) -> None:
    with pytest.raises(RefusedError, match=told):
        StandIns(body(line), known(), lambda code, sentence: None, is_of_strangers=True)
