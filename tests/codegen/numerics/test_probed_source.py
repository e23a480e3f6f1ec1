"""A kernel whose statements' values are written out: which statements have points, and what stays as it was."""

import re

from inspect_compile.codegen.numerics.probed_source import BEFORE, LOOP, STORE, VALUE, base_name, probed

KERNEL = """
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(const float* in_ptr0,
                       float* out_ptr0)
{
    #pragma omp parallel for collapse(2)
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(4L); x0+=static_cast<int64_t>(1L))
    {
        for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(8L); x1+=static_cast<int64_t>(8L))
        {
            {
                float tmp_acc0 = 0;
                auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr0 + static_cast<int64_t>(x1 + 8L*x0), 8);
                auto tmp1 =
                [&]
                {
                    return tmp0;
                }
                ()
                ;
                tmp_acc0 = tmp_acc0 + 1;
                tmp0.store(out_ptr0 + static_cast<int64_t>(x1 + 8L*x0));
            }
        }
    }
}
"""


def test_points_of_a_kernel() -> None:
    found = probed(KERNEL)

    assert found is not None
    said = [(point.line, point.kind, point.name) for point in found.points]
    assert said == [
        (11, LOOP, "x0"),
        (11, LOOP, "x1"),
        (11, VALUE, "tmp_acc0"),
        (12, VALUE, "tmp0"),
        (20, LOOP, "x0"),
        (20, LOOP, "x1"),
        (20, BEFORE, "tmp_acc0"),
        (20, VALUE, "tmp_acc0"),
        (21, STORE, "tmp0"),
    ]
    assert {point.nest for point in found.points} == {6}


SUMMED = """
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(const float* in_ptr0,
                       float* out_ptr0,
                       float* out_ptr1)
{
    {
        {
            float tmp_acc0 = 0;
            for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(40L); x0+=static_cast<int64_t>(1L))
            {
                auto tmp0 = in_ptr0[static_cast<int64_t>(x0)];
                tmp_acc0 = tmp_acc0 + tmp0;
            }
            out_ptr0[static_cast<int64_t>(0L)] = static_cast<float>(tmp_acc0);
        }
    }
    {
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(40L); x0+=static_cast<int64_t>(1L))
        {
            auto tmp0 = in_ptr0[static_cast<int64_t>(x0)];
            out_ptr1[static_cast<int64_t>(x0)] = tmp0;
        }
    }
}
"""


def test_a_store_outside_of_loops_follows_those_of_its_block() -> None:
    found = probed(SUMMED)

    assert found is not None
    total, element = (point for point in found.points if point.kind == STORE)
    assert {point.line for point in found.points if total.follows(point)} == {8, 11, 12, 14}
    assert {point.line for point in found.points if element.follows(point)} == {20, 21}


def test_the_lines_of_the_kernel_stay() -> None:
    found = probed(KERNEL)

    assert found is not None
    own = [line for line in KERNEL.splitlines() if "kernel(" not in line and "out_ptr0)" not in line]
    kept = iter(found.text.splitlines())
    assert all(any(line == one for one in kept) for line in own)
    assert "double* ic_values, const int64_t ic_element" in found.text


def test_loops_that_are_one_for_openmp_stay_next_to_each_other() -> None:
    found = probed(KERNEL)

    assert found is not None
    _, _, after = found.text.partition("collapse(2)")
    between, _, _ = after.partition("x1<static_cast")
    assert "inspect_compile" not in between


def test_another_source_has_none() -> None:
    assert probed("int main() { return 0; }") is None


def test_names_of_vectors() -> None:
    assert [base_name(name) for name in ("tmp_acc0_vec", "tmp_acc1_arr[0]", "tmp12")] == [
        "tmp_acc0",
        "tmp_acc1",
        "tmp12",
    ]


def _with(line: str) -> tuple[list[tuple[str, str]], str, str]:
    """The points, and what stands before and after it,  of the kernel with a line more."""
    found = probed(KERNEL.replace("                tmp_acc0 = tmp_acc0 + 1;", f"                {line}"))
    assert found is not None
    before, _, after = found.text.partition(f"                {line}\n")
    return [(point.kind, point.name) for point in found.points if point.text == line], before, after


def test_a_store_under_a_condition_counts_where_it_is_made() -> None:
    points, _, after = _with("if (((x1) / 8) % 3 != 1) tmp0.store(out_ptr0 + static_cast<int64_t>(x1), 8);")

    assert (STORE, "tmp0") in points
    assert after.startswith("if (((x1) / 8) % 3 != 1) inspect_compile::stored(")


def test_a_step_under_a_condition_is_looked_at_in_each_turn() -> None:
    points, before, after = _with("if ((x1 / 8) % 3 != 1) { tmp_acc0 = tmp_acc0 + 1; }")

    assert points[-2:] == [(BEFORE, "tmp_acc0"), (VALUE, "tmp_acc0")]
    assert before.splitlines()[-1].startswith("inspect_compile::put(")
    assert after.startswith("inspect_compile::put(")


def test_an_addition_to_memory_is_seen_from_before_it_to_after_it() -> None:
    line = "atomic_add(&out_ptr0[static_cast<int64_t>(x1)], tmp0);"
    points, before, after = _with(f"{line} {line}")

    assert (STORE, "tmp0") in points
    assert before.splitlines()[-1].startswith("inspect_compile::adding(")
    assert after.startswith("inspect_compile::added(")


def test_an_addition_of_a_part_of_a_vector() -> None:
    points, _, after = _with("atomic_add_vec<float, 2, 1>(out_ptr0, tmp3, tmp0, static_cast<int64_t>(4L));")

    assert (STORE, "tmp0") in points
    assert after.splitlines()[0].endswith("out_ptr0, tmp3, tmp0, static_cast<int64_t>(4L));")


def test_rows_of_a_transposed_tile() -> None:
    tile = """for (long x0_inner = 0; x0_inner < 8; x0_inner++)
                {
                    tmp0.store(tmp9 + static_cast<int64_t>(8L*x0_inner));
                }
                at::vec::transpose_mxn<float,8,static_cast<int64_t>(4L),false>(tmp9, 8, out_ptr0 + x1, 4);
"""
    found = probed(KERNEL.replace("                tmp0.store(out_ptr0 + static_cast<int64_t>(x1 + 8L*x0));", tile))

    assert found is not None
    assert [point.name for point in found.points if point.kind == STORE] == ["tmp0"]
    assert "inspect_compile::keep_row(" in found.text
    pattern = r"inspect_compile::stored_tile\(\d+, out_ptr0 \+ x1, 4, 8, static_cast<int64_t>\(4L\)\);"
    assert re.search(pattern, found.text)
    assert found.loose == set()


def test_rows_of_a_tile_that_is_not_seen_to_be_stored() -> None:
    loop = "for (long x0_inner = 0; x0_inner < 8; x0_inner++)\n{\n"
    rows = f"{loop}tmp0.store(tmp9 + static_cast<int64_t>(8L*x0_inner));\n}}"
    found = probed(KERNEL.replace("                tmp_acc0 = tmp_acc0 + 1;", rows))

    assert found is not None
    assert {found.points[at].name for at in found.loose} == {"tmp0"}
