"""Look at a Triton kernel of your own between the ops around it: it is launched as it is, and nothing fuses into it.

    python user_triton_kernel.py [--device cuda]

Needs a CUDA GPU and the triton package.
"""

import argparse
import sys

import torch

NEEDS = "user_triton_kernel.py needs a CUDA GPU and triton; with them: python user_triton_kernel.py --device cuda"

try:
    import triton
    import triton.language as tl
except ImportError:
    print(NEEDS)
    sys.exit(0)


@triton.jit
def blend_kernel(x_ptr, y_ptr, out_ptr, n, weight, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, weight * x + (1 - weight) * y, mask=inside)


@torch.compile(fullgraph=True)
def blend(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x = torch.sin(x)
    out = torch.empty_like(x)
    blend_kernel[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), 0.25, BLOCK=256)
    return torch.relu(out)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu", help="cuda; on the CPU (the default) it only says what it needs")
    device = parser.parse_args().device
    if not device.startswith("cuda") or not torch.cuda.is_available():
        print(NEEDS)
        return

    torch.manual_seed(0)
    x = torch.randn(1000).to(device)
    y = torch.randn(1000).to(device)

    out = blend(x, y)

    print(f"out {list(out.shape)}, mean {out.mean().item():.3f}")


if __name__ == "__main__":
    main()
