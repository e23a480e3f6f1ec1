"""Two Triton kernels, one of them with two numbers of warps, for a GPU that is not here."""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) + tl.load(y + at, at < n), at < n)


@triton.jit
def sum_kernel(x, out, BLOCK: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, BLOCK))))


ADD = ASTSource(add_kernel, {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {(4,): 1024})
SUM = ASTSource(sum_kernel, {"x": "*fp32", "out": "*fp32", "BLOCK": "constexpr"}, {(2,): 512})
for source, warps in ((ADD, 4), (ADD, 8), (SUM, 4)):
    triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps})
