"""The variables in the mask of a load in Triton are found in its statement."""

import pytest

from inspect_compile.codegen.numerics.probed_triton import masked_by


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("tmp0 = tl.load(in_ptr0 + (x0), xmask)", ()),
        (
            "tmp0 = tl.load(in_ptr0 + (x0 + 64*r0_1), r0_mask & tmp3, eviction_policy='evict_last', other=0.0)",
            ("tmp3",),
        ),
        ("tmp1 = tl.load(in_ptr1 + ((-4) + x0), tmp5 & xmask, other=0.0).to(tl.float32)", ("tmp5",)),
        ("tmp0 = tl.load(in_ptr0 + (0))", ()),
        ("tmp0 = tl.load(in_ptr0 + (x0), None)", ()),
        ("tmp2 = tl.where(tmp0, tmp1, (x0), 0)", ()),
        ("tmp0 = tl.load(in_ptr0 + (tl.where(tmp1 < 0, (tmp1), tmp2)), xmask)", ()),
    ],
)
def test_the_variables_of_a_mask(text: str, variables: tuple[str, ...]) -> None:
    assert masked_by(text) == variables
