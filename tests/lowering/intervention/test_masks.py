"""The mask of a load in Triton is found in its statement."""

import pytest

from inspect_compile.lowering.intervention.numerics.statements.evaluated import masks_of


@pytest.mark.parametrize(
    ("text", "masks"),
    [
        ("tmp0 = tl.load(in_ptr0 + (x0), xmask)", "xmask"),
        (
            "tmp0 = tl.load(in_ptr0 + (x0 + 64*r0_1), r0_mask & tmp3, eviction_policy='evict_last', other=0.0)",
            "r0_mask & tmp3",
        ),
        ("tmp1 = tl.load(in_ptr1 + ((-4) + x0), tmp5 & xmask, other=0.0).to(tl.float32)", "tmp5 & xmask"),
        ("tmp0 = tl.load(in_ptr0 + (0))", ""),
        ("tmp0 = tl.load(in_ptr0 + (x0), None)", "None"),
        ("tmp2 = tl.where(tmp0, tmp1, (x0), 0)", ""),
        ("tmp0 = tl.load(in_ptr0 + (tl.where(tmp1 < 0, (tmp1), tmp2)), xmask)", "xmask"),
    ],
)
def test_masks(text: str, masks: str) -> None:
    assert masks_of(text) == masks
