"""Launches Triton kernels of its own: one that is tuned, by itself, and then one in a compiled function."""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()
TWICE = tl.constexpr(2)


@triton.jit
def scaled(x):  # type: ignore[no-untyped-def]
    """Called by a kernel."""
    return x * TWICE


@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128}, num_warps=8)], key=["n"])
@triton.jit
def tuned_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    """out = 2 x."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(out_ptr + offsets, scaled(tl.load(x_ptr + offsets, mask=inside)), mask=inside)


@triton.jit
def plain_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    """out = x + y."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x + tl.load(y_ptr + offsets, mask=inside), mask=inside)


@torch.compile(fullgraph=True)
def added(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """In a graph."""
    assert x.device == DEVICE
    out = torch.empty_like(x)
    plain_kernel[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), BLOCK=256)
    return out + 1


x = torch.ones(1000, device=DEVICE)
twice = torch.ones_like(x)
print("before")
tuned_kernel[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, twice, 1000)
print("twice", twice.sum().item(), x.sum().item())
print("added", added(x, x).sum().item())
