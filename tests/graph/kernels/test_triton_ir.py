"""What one program of a Triton kernel computes, read off its TTIR."""

import pytest

from inspect_compile.graph.kernels.triton_ir import MOST, program_work

_HEAD = "module {\n  tt.func public @k(%x: !tt.ptr<f32> loc(#a), %out: !tt.ptr<f32> loc(#b), %n: i32 loc(#c)) {\n"
_TAIL = "    tt.return loc(#d)\n  } loc(#d)\n} loc(#d)\n"
_LOAD = """\
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>> loc(#a)
    %v = tt.load %p : tensor<8x4x!tt.ptr<f32>> loc(#a)
"""
_STORE = """\
    %q = tt.splat %out : !tt.ptr<f32> -> tensor<8x4x!tt.ptr<f32>> loc(#a)
    tt.store %q, %w : tensor<8x4x!tt.ptr<f32>> loc(#a)
"""


def _kernel(*lines: str) -> str:
    return _HEAD + _LOAD + "".join(f"    {line} loc(#a)\n" for line in lines) + _STORE + _TAIL


def test_floats_count_and_integers_do_not() -> None:
    found = program_work(
        _kernel(
            "%i = arith.muli %n, %n : i32",
            "%a = arith.addf %v, %v : tensor<8x4xf32>",
            "%b = math.exp %a : tensor<8x4xf32>",
            "%c = arith.cmpi slt, %j, %k : tensor<8x4xi32>",
            "%w = arith.select %c, %a, %b : tensor<8x4xi1>, tensor<8x4xf32>",
            "%z = arith.select %c, %j, %k : tensor<8x4xi1>, tensor<8x4xi32>",
            '%s = tt.extern_elementwise %w {symbol = "__nv_tanhf"} : (tensor<8x4xf32>) -> tensor<8x4xf32>',
        )
    )

    assert (found.heavy, found.scalar, found.transcendental) == (0, 4 * 32, 2 * 32)
    assert (found.parameters, *found.reads, *found.writes) == (3, 0, 1)
    assert found.uncounted == ""


def test_a_reduction_counts_what_goes_in() -> None:
    found = program_work(
        _kernel(
            '%r = "tt.reduce"(%v) <{axis = 1 : i32}> ({',
            "^bb0(%one: f32, %other: f32):",
            "%m = arith.maxnumf %one, %other : f32",
            "tt.reduce.return %m : f32",
            "}) : (tensor<8x4xf32>) -> tensor<8xf32>",
            "%w = arith.subf %r, %r : tensor<8xf32>",
        )
    )

    assert found.scalar == 32 + 8


@pytest.mark.parametrize(("length", "turns"), [(0, 0), (1, 1), (32, 1), (33, 2), (100, 4)])
def test_a_loop_counts_as_often_as_arguments_say(length: int, turns: int) -> None:
    found = program_work(
        _kernel(
            "%c31 = arith.constant 31 : i32",
            "%c32 = arith.constant 32 : i32",
            "%c0 = arith.constant 0 : i32",
            "%c1 = arith.constant 1 : i32",
            "%up = arith.addi %n, %c31 : i32",
            "%turns = arith.divsi %up, %c32 : i32",
            "%w:2 = scf.for %i = %c0 to %turns step %c1 iter_args(%at = %p, %sum = %v) -> (tensor<8x4xf32>)  : i32 {",
            "%d = tt.dot %a, %b, %sum, inputPrecision = tf32 : tensor<8x16xf32> * tensor<16x4xf32> -> tensor<8x4xf32>",
            "%again = tt.load %at : tensor<8x4x!tt.ptr<f32>>",
            "scf.yield %at, %d : tensor<8x4x!tt.ptr<f32>>, tensor<8x4xf32>",
            "}",
        ),
        [None, None, length],
    )

    assert found.heavy == turns * 2 * 8 * 16 * 4
    assert (*found.reads, found.uncounted) == (0, "")


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (
            ["scf.for %i = %c0 to %n step %c1 : i32 {", "%w = arith.addf %v, %v : tensor<8x4xf32>", "}"],
            "iterations of a loop",
        ),
        (["%w = scf.while (%y = %v) : (f32) -> f32 {", "} do {", "}"], "iterations of a loop"),
        (['%w = tt.elementwise_inline_asm "ex2" {pure = true} %v : tensor<8x4xf32> -> tensor<8x4xf32>'], "assembly"),
        (["%w = tt.call @helper(%v) : (tensor<8x4xf32>) -> tensor<8x4xf32>"], "calls"),
    ],
)
def test_what_cannot_be_known_is_told(lines: list[str], why: str) -> None:
    found = program_work(_kernel(*lines))
    assert why in found.uncounted
    assert (*found.reads, *found.writes) == (0, 1)


def test_a_loop_that_only_moves_needs_no_number() -> None:
    found = program_work(_kernel("scf.for %i = %c0 to %n step %c1 : i32 {", "tt.store %p, %v : tensor<8x4xf32>", "}"))
    assert (found.scalar, found.uncounted) == (0, "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "}\n" * 1000,
        "scf.if %a {\n" * 100_000,
        "tt.func @k(" + "%a: !tt.ptr<f32>, " * 900 + ") {",
        _kernel(f"%w = arith.addf %v, %v : tensor<{'9' * 400}x{'9' * 400}xf32>"),
        _kernel("%w = tt.dot %v, %v : f32"),
        _kernel(f"%w = arith.constant {'9' * 5000} : i32"),
        "tt.atomic_rmw\nscf.for {\n}) : (",
    ],
    ids=range(8),
)
def test_a_file_that_is_none(text: str) -> None:
    found = program_work(text, [1, None, -5], [None])
    assert 0 <= found.scalar <= MOST
