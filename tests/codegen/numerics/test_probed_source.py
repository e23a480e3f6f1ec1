"""A kernel whose statements' values are written out: which statements have points, and what stays as it was."""

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
