"""Draws random numbers with Triton's own functions, in its interpreter, and with ours: prints how far they are apart."""

import json
import os

os.environ["TRITON_INTERPRET"] = "1"

import torch
import triton  # type: ignore[import-untyped]
import triton.language as tl  # type: ignore[import-untyped]
from torch._inductor.runtime import triton_helpers

from inspect_compile.lowering.intervention.numerics.graphs import philox

COUNT = 1024


@triton.jit  # type: ignore[untyped-decorator]
def draw(seeds, uniform, normal, by_four, normal_by_four, whole, COUNT: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.arange(0, COUNT)
    place, seed = at.to(tl.uint32), tl.load(seeds)
    tl.store(uniform + at, tl.rand(seed, place))
    tl.store(normal + at, tl.randn(seed, place))
    if hasattr(triton_helpers, "rand4x"):  # since torch 2.13
        tl.store(by_four + at, triton_helpers.rand4x(seed, place, COUNT))
        tl.store(normal_by_four + at, triton_helpers.randn4x(seed, place, COUNT))
    low, high = tl.full([1], -3, tl.int64), tl.full([1], 50, tl.int64)
    tl.store(whole + at, triton_helpers.randint64(seed, place, low, high))


def main() -> None:
    torch.manual_seed(0)
    seed = torch.randint(-(2**63), 2**63 - 1, [1])
    floats = [torch.zeros(COUNT) for _ in range(4)]
    whole = torch.zeros(COUNT, dtype=torch.int64)
    draw[(1,)](seed, *floats, whole, COUNT)
    one, four = philox.Form(in_triton=True), philox.Form(in_triton=True, by_four=True)
    kinds = {"rand": one, "randn": one}
    found = {kind: philox.random([COUNT], seed, kind, form) for kind, form in kinds.items()}
    apart = {kind: (found[kind] - drawn).abs().max().item() for kind, drawn in zip(kinds, floats[:2], strict=True)}
    if hasattr(triton_helpers, "rand4x"):
        for kind, drawn in zip(kinds, floats[2:], strict=True):
            apart[f"{kind} by four"] = (philox.random([COUNT], seed, kind, four) - drawn).abs().max().item()
    own = philox.randint(-3, 50, [COUNT], seed, philox.Form(in_triton=True))
    print(json.dumps(apart | {"randint": (own - whole).abs().max().item()}))


if __name__ == "__main__":
    main()
