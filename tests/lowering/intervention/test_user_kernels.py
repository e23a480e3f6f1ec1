"""A stranger's Triton kernels become calls of operators; their text is left out."""

import ast

import pytest

from inspect_compile.lowering.intervention.replay.runnable import RefusedError, Runnable, runnable
from inspect_compile.lowering.intervention.replay.schemas import Returned, own_calls, schema
from inspect_compile.lowering.intervention.replay.strangers import of_known_shape
from inspect_compile.lowering.intervention.replay.user_kernels import without_user_kernels

TABLE = "torch._higher_order_ops.triton_kernel_wrap.kernel_side_table"
CALL = (
    "triton_kernel_wrapper_functional(kernel_idx = 1, constant_args_idx = 0, grid = [(4, 1, 1)],"
    " tma_descriptor_metadata = {}, kwargs = {'x_ptr': arg0_1, 'n': s27, 'out_ptr': empty},"
    " tensors_to_clone = ['out_ptr'])"
)
TEXT = f"""
s27 = 8
import torch
import triton
import triton.language as tl
{TABLE}.reset_table()
WIDE = tl.constexpr(4)
LONG = 8

@triton.jit
def helper(x):
    return x + LONG

@triton.jit
def first_0(x_ptr):
    pass
{TABLE}.add_kernel(first_0)

@triton.autotune(
    configs=[triton.Config({{'BLOCK': 64}}, num_warps=4, num_stages=2,)],
    key=[]
)
@triton.jit
def blend_1(x_ptr, n, out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr, helper(tl.load(x_ptr)) + WIDE)
{TABLE}.add_kernel(blend_1)
{TABLE}.constant_args={{0: {{'BLOCK': 64}}}}

class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, arg0_1, s27):
        empty = torch.ops.aten.empty.memory_format([s27], dtype = torch.float32, device = device(type='cuda', index=0))
        call = torch.ops.higher_order.{CALL};  empty = None
        getitem = call['out_ptr'];  call = None
        return (getitem,)

def load_args(reader):
    buf0 = reader.storage(None, 4*s27, device=device(type='cuda', index=0))
    reader.tensor(buf0, (s27,), is_leaf=True)  # arg0_1
    reader.symint(8)  # s27
load_args._version = 0
mod = Repro()
"""
EVIL = "open('written', 'w')"


def taken(text: str) -> Runnable:
    return of_known_shape(without_user_kernels(runnable(text, "")))


def test_a_kernel_is_a_call_that_writes_to_its_arguments() -> None:
    found = taken(TEXT)

    text = ast.unparse(found.body.function)
    assert (
        "call = torch.ops.higher_order.auto_functionalized_v2(torch.ops.user_triton_kernel.blend.default, x_ptr=arg0_1,"
        " n=s27, _out_ptr_base_index=0, _all_bases=[empty])" in text
    )
    assert "getitem = call[1]" in text
    (call,) = own_calls(found.body)
    assert schema([call], {"call": ("arg0_1", "empty")}, Returned(0, is_several=True)) == (
        "blend(*, Tensor(a!) out_ptr, Tensor x_ptr, SymInt n) -> ()"
    )
    program = ast.unparse(found.program)
    for left_out in ("triton", "tl.", "helper", "first", "LONG"):
        assert left_out not in program.replace("user_triton_kernel", "")


def test_a_graph_without_kernels_is_left() -> None:
    lines = TEXT.splitlines(keepends=True)
    recorded = runnable("".join(line for line in lines if "add_kernel" not in line), "")
    assert without_user_kernels(recorded) is recorded


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("kernel_idx = 1", "kernel_idx = 2"),
        ("kernel_idx = 1", "kernel_idx = -1"),
        ("kernel_idx = 1", f"kernel_idx = {EVIL}"),
        ("'x_ptr': arg0_1", "'x ptr': arg0_1"),
        ("'x_ptr': arg0_1", "'in': arg0_1"),
        ("'x_ptr': arg0_1", "**arg0_1"),
        ("tensors_to_clone = ['out_ptr']", "tensors_to_clone = ['other']"),
        ("tensors_to_clone = ['out_ptr']", "tensors_to_clone = 5"),
    ],
)
def test_a_call_that_is_not_as_torch_writes_it(line: str, instead: str) -> None:
    assert line in TEXT
    with pytest.raises(RefusedError, match="calls a Triton kernel in a way that is not known"):
        taken(TEXT.replace(line, instead))


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("'x_ptr': arg0_1", f"'x_ptr': {EVIL}"),
        ("'out_ptr': empty", f"'out_ptr': {EVIL}"),
        ("LONG = 8", f"LONG = {EVIL}"),
        ("@triton.jit\ndef helper", f"@triton.jit\n@{EVIL}\ndef helper"),
        ("WIDE = tl.constexpr(4)", f"WIDE = {EVIL}"),
        ("        empty =", f"        {EVIL}\n        empty ="),
    ],
)
def test_nothing_of_a_strangers_runs(line: str, instead: str) -> None:
    assert line in TEXT
    with pytest.raises(RefusedError, match="not one that torch writes"):
        taken(TEXT.replace(line, instead))


@pytest.mark.parametrize(
    ("line", "instead"),
    [("tl.constexpr(4)", f"tl.constexpr({EVIL})"), ("    pass", f"    {EVIL}"), ("(x_ptr):", f"(x_ptr={EVIL}):")],
)
def test_a_text_that_is_left_out_may_say_anything(line: str, instead: str) -> None:
    assert line in TEXT
    assert EVIL not in ast.unparse(taken(TEXT.replace(line, instead)).program)
