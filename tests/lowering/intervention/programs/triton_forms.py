"""What Inductor makes on a GPU only, for planted mistakes: combo kernels, templates, kernels that the program brings."""

import torch
import triton  # type: ignore[import-untyped]
import triton.language as tl  # type: ignore[import-untyped]
from torch import Tensor


def parts(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Two results that have nothing to do with each other: one launch for both."""
    return torch.tanh(x) * 1.25 - 0.3, torch.exp(-y) * y + 0.7


def epilogue(x: Tensor, y: Tensor) -> Tensor:
    """A matmul whose template computes what follows, too."""
    return torch.tanh((x @ y) * 0.125) * 1.25 - 0.3


# Written as Inductor writes them, so that the same mistakes can be planted.
@triton.jit  # type: ignore[untyped-decorator]
def own_kernel(in_ptr0, in_ptr1, out_ptr0, count, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    x0 = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    xmask = x0 < count
    tmp0 = tl.load(in_ptr0 + (x0), xmask)
    tmp1 = tl.load(in_ptr1 + (x0), xmask)
    tmp2 = tmp0 * tmp1
    tmp3 = tmp2 + tmp0
    tmp4 = tmp3 - tmp1
    tl.store(out_ptr0 + (x0), tmp4, xmask)


def own(x: Tensor, y: Tensor) -> Tensor:
    """A kernel of the program's between two of Inductor's."""
    first, second = x.sin().contiguous(), y.relu().contiguous()
    found = torch.empty_like(first)
    own_kernel[(triton.cdiv(first.numel(), 256),)](first, second, found, first.numel(), BLOCK=256)
    return found.exp() * 0.5
