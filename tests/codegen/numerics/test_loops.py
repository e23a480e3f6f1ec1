"""Which values of its loop variables each line of a C++ kernel runs for, and what is left out of their ranges."""

import pytest
import sympy

from inspect_compile.codegen.numerics.loops import Short, holds, place_of, short, spans

SOURCE = """#include <torch/csrc/inductor/cpp_prefix.h>
{
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(3L); x0+=static_cast<int64_t>(1L))
    {
        for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(20L); x1+=static_cast<int64_t>(8L))
        {
            if(C10_LIKELY(x1 >= static_cast<int64_t>(0) && x1 < static_cast<int64_t>(16L)))
            {
                tmp0.store(out_ptr0 + static_cast<int64_t>(x1 + 20L*x0));
            }
            if(C10_UNLIKELY(x1 >= static_cast<int64_t>(16L) && x1 < static_cast<int64_t>(20L)))
            {
                tmp0.store(out_ptr0 + static_cast<int64_t>(x1 + 20L*x0), static_cast<int64_t>(4L));
            }
        }
        for (long x2 = 0; x2 < 8; x2++)
        {
            tmp1.store(tmp2 + static_cast<int64_t>(8L*x2));
        }
    }
}
"""
RANGES = {"x0": 3, "x1": 20, "x2": 8}
MAIN, TAIL, ROWS = [9], [13], [18]


@pytest.mark.parametrize("lines", [MAIN, TAIL, ROWS])
def test_nothing_is_left_out(lines: list[int]) -> None:
    assert short(spans(SOURCE), lines, RANGES, {}) is None


@pytest.mark.parametrize(
    ("was", "now", "lines", "found"),
    [
        ("x0<static_cast<int64_t>(3L)", "x0<static_cast<int64_t>(2L)", MAIN, Short(3, 2, 3)),
        ("x1<static_cast<int64_t>(20L)", "x1<static_cast<int64_t>(12L)", TAIL, Short(5, 12, 20)),
        ("x1=static_cast<int64_t>(0L)", "x1=static_cast<int64_t>(8L)", MAIN, Short(5, 0, 8)),
        ("x1 < static_cast<int64_t>(16L)", "x1 < static_cast<int64_t>(8L)", MAIN, Short(7, 8, 16)),
        ("x1 < static_cast<int64_t>(20L)))", "x1 < static_cast<int64_t>(18L)))", TAIL, Short(11, 18, 20)),
        ("x2 < 8", "x2 < 7", ROWS, Short(16, 7, 8)),
    ],
)
def test_what_is_left_out(was: str, now: str, lines: list[int], found: Short) -> None:
    edited = SOURCE.replace(was, now, 1)

    assert edited != SOURCE
    assert short(spans(edited), lines, RANGES, {}) == found


TAIL_ALONE = """{
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(8L); x0+=static_cast<int64_t>(16L))
    {
        if(C10_LIKELY(x0 >= static_cast<int64_t>(0L) && x0 < static_cast<int64_t>(1)))
        {
            for (int64_t x0_tail = static_cast<int64_t>(0L);x0_tail < static_cast<int64_t>(8L); x0_tail++)
            {
                out_ptr0[static_cast<int64_t>(x0_tail)] = tmp0;
            }
        }
    }
}
"""
"""As torch writes it of fewer elements than a vector has: the condition holds for the first one."""


def test_a_condition_around_a_loop_through_what_is_left() -> None:
    assert short(spans(TAIL_ALONE), [8], {"x0": 8}, {}) is None
    edited = TAIL_ALONE.replace("x0_tail < static_cast<int64_t>(8L)", "x0_tail < static_cast<int64_t>(7L)")
    assert short(spans(edited), [8], {"x0": 8}, {}) == Short(6, 7, 8)


def test_only_what_leaves_the_element_out() -> None:
    edited = SOURCE.replace("x0<static_cast<int64_t>(3L)", "x0<static_cast<int64_t>(2L)")

    assert short(spans(edited), MAIN, RANGES, {"x0": 1, "x1": 3}) is None
    assert short(spans(edited), MAIN, RANGES, {"x0": 2, "x1": 3}) == Short(3, 2, 3)


def test_the_place_of_an_element() -> None:
    x0, x1 = sympy.symbols("x0 x1")
    place = place_of(x1 + 20 * x0 + 5, {"x0": 3, "x1": 20}, 42)

    assert place == {"x0": 1, "x1": 17}
    assert (holds(spans(SOURCE), MAIN[0], place), holds(spans(SOURCE), TAIL[0], place)) == (False, True)


@pytest.mark.parametrize("index", [sympy.Symbol("x0") * 2, sympy.Symbol("x0") ** 2, sympy.Symbol("tmp3")])
def test_a_place_that_is_not_known(index: sympy.Expr) -> None:
    assert place_of(index, {"x0": 3}, 3) == {}


def test_sizes_that_are_no_numbers_are_left_out() -> None:
    assert spans("for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks0); x0+=1)\n{\nx\n}\n") == {}
