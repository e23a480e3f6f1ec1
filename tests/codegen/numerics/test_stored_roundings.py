"""Whether a kernel's source rounds to a half type only what it stores."""

import pytest

from inspect_compile.codegen.numerics.loaded_sources import Source
from inspect_compile.codegen.numerics.stored_roundings import rounds_only_stored, triton_rounds_only_stored

KERNEL = """
extern "C"  void  kernel(at::BFloat16* in_out_ptr0,
                       const at::BFloat16* in_ptr0,
                       at::BFloat16* out_ptr0)
{
    for(int64_t x0=0; x0<32; x0+=16)
    {
        auto tmp0 = at::vec::Vectorized<at::BFloat16>::loadu(in_out_ptr0 + static_cast<int64_t>(x0), 16);
        auto tmp1 = at::vec::convert<float>(tmp0);
        auto tmp2 = tmp1 * tmp1;
        auto tmp3 = at::vec::convert<at::BFloat16>(tmp2);
        BETWEEN
        tmp3.store(in_out_ptr0 + static_cast<int64_t>(x0), 16);
    }
    for(int64_t x0=0; x0<32; x0+=1)
    {
        auto tmp0 = in_ptr0[static_cast<int64_t>(x0)];
        auto tmp1 = c10::convert<float>(tmp0);
        auto tmp2 = static_cast<float>(0.1);
        auto tmp4 = c10::convert<at::BFloat16>(tmp1);
        AFTER
        out_ptr0[static_cast<int64_t>(x0)] = tmp4;
    }
}
"""


@pytest.mark.parametrize(
    ("between", "after", "is_so"),
    [
        ("", "", True),
        ("auto tmp5 = at::vec::convert<at::BFloat16>(tmp1);", "", True),  # nothing reads it
        ("auto tmp5 = at::vec::convert<float>(tmp3);", "", False),
        ("", "auto tmp5 = c10::convert<float>(tmp4);", False),
        ("", "auto tmp5 = in_out_ptr0[static_cast<int64_t>(x0)];", False),
        ("", "auto tmp5 = out_ptr0[static_cast<int64_t>(x0)];", True),  # before it is written
        ("", "atomic_add(&out_ptr0[0], tmp4);", False),
    ],
)
def test_what_is_rounded_is_stored(between: str, after: str, is_so: bool) -> None:
    text = KERNEL.replace("BETWEEN", between).replace("AFTER", after)

    assert rounds_only_stored(Source((), text)) == is_so


TRITON = """
def triton_kernel(in_out_ptr0, in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    tmp0 = tl.load(in_out_ptr0 + (x0), xmask).to(tl.float32)
    tmp1 = tl.load(in_ptr0 + (x0), xmask).to(tl.float32)
    tmp2 = libdevice.log1p(tmp0)
    BETWEEN
    tl.store(in_out_ptr0 + (x0), tmp2, xmask)
    AFTER
    tl.store(out_ptr0 + (x0), tmp1, xmask)
"""


@pytest.mark.parametrize(
    ("between", "after", "is_so"),
    [
        ("", "", True),
        ("", "tmp3 = tmp1.to(tl.bfloat16)\n    tl.store(out_ptr0 + (x0), tmp3, xmask)", True),
        ("tmp3 = tmp1.to(tl.bfloat16)\n    tmp4 = tmp3.to(tl.float32)", "", False),
        ("tmp3 = tmp1 + tmp2.to(tl.float16)", "", False),
        ("", "tmp3 = tl.load(in_out_ptr0 + (x0), xmask).to(tl.float32)", False),
        ("", "tmp3 = tl.load(in_ptr0 + (x0), xmask).to(tl.float32)", True),  # nothing writes there
        ("tmp3 = tl.load(out_ptr0 + (x0), xmask).to(tl.float32)", "", True),  # before it is written
        ("", "tl.atomic_add(out_ptr0 + (x0), tmp1, xmask)", False),
        ("tmp3 = tl.dot(tmp0, tmp1)", "", False),
        ("tmp3 = forward_inner(tmp0, tmp1)", "", False),  # a template's own function
        ("tmp3 = tl.full([1], float('-inf'), tl.float32)", "", True),
    ],
)
def test_what_triton_rounds_is_stored(between: str, after: str, is_so: bool) -> None:
    text = TRITON.replace("BETWEEN", between).replace("AFTER", after)

    assert triton_rounds_only_stored(text, dict.fromkeys(("in_out_ptr0", "in_ptr0", "out_ptr0"), "*bf16")) == is_so


def test_float32_that_triton_reads_again_is_no_rounding() -> None:
    text = TRITON.replace("AFTER", "tmp3 = tl.load(in_out_ptr0 + (x0), xmask)")

    assert triton_rounds_only_stored(text, {"in_out_ptr0": "*fp32", "in_ptr0": "*bf16", "out_ptr0": "*bf16"})
