"""Kernels that move more than any cache holds, each compiled and called some times under torch.profiler.

large_kernels.py TRACE GROUP     # a group of GROUPS; with a CUDA device
"""

import os
import sys
import time
from collections.abc import Callable

import torch
from torch.nn import functional as F

CALLS = 6
COMPILE_SECONDS = float(os.environ.get("COMPILE_SECONDS", "90"))
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SCALE = 1 if DEVICE == "cuda" else 64
ROWS, COLUMNS = 16384 // SCALE, 8192

Program = Callable[..., object]


def wide(dtype: torch.dtype = torch.float32, rows: int = ROWS, columns: int = COLUMNS) -> torch.Tensor:
    return torch.randn(rows, columns, device=DEVICE, dtype=dtype)


def square(dtype: torch.dtype = torch.float32, size: int = 8192) -> torch.Tensor:
    size = size // (8 if SCALE > 1 else 1)
    return torch.randn(size, size, device=DEVICE, dtype=dtype)


def numbers(below: int, count: int) -> torch.Tensor:
    return torch.randint(0, below, (count,), device=DEVICE)


BF16 = torch.bfloat16


def adam(p: torch.Tensor, g: torch.Tensor, m: torch.Tensor, v: torch.Tensor) -> None:
    m.lerp_(g, 0.1)
    v.mul_(0.999).addcmul_(g, g, value=0.001)
    p.addcdiv_(m, v.sqrt() + 1e-8, value=-0.001)


def rotary(x: torch.Tensor, c: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    left, right = x.chunk(2, dim=-1)
    return torch.cat((left * c - right * s, right * c + left * s), dim=-1)


GROUPS: dict[str, dict[str, tuple[Program, Callable[[], tuple[torch.Tensor, ...]]]]] = {
    "pointwise": {
        "gelu": (lambda x, y: F.gelu(x * 2 + y), lambda: (wide(), wide())),
        "silu_bf16": (lambda x, y: F.silu(x) * y, lambda: (wide(BF16), wide(BF16))),
        "row": (lambda x, b: x + b, lambda: (wide(), torch.randn(COLUMNS, device=DEVICE))),
        "column": (lambda x, b: x * b, lambda: (wide(), torch.randn(ROWS, 1, device=DEVICE))),
        "glu": (lambda x: F.glu(x), lambda: (wide(BF16, ROWS, 2 * COLUMNS),)),
        "rotary": (
            rotary,
            lambda: (wide(BF16).view(-1, 64, 128), *(torch.randn(64, 64, device=DEVICE, dtype=BF16) for _ in "cs")),
        ),
        "dropout": (lambda x: F.dropout(x, 0.1), lambda: (wide(),)),
        "adam": (adam, lambda: tuple(wide() if index < 3 else wide().abs() for index in range(4))),
        "convert": (lambda x: x.to(BF16), lambda: (wide(),)),
        "fill": (lambda x: torch.full_like(x, 1.5), lambda: (wide(),)),
    },
    "reduction": {
        "sum_rows": (lambda x: x.sum(-1), lambda: (wide(),)),
        "sum_columns": (lambda x: x.sum(0), lambda: (wide(),)),
        "sum_all": (lambda x: x.sum(), lambda: (wide(),)),
        "softmax": (lambda x: torch.softmax(x, -1), lambda: (wide(BF16),)),
        "softmax_long": (lambda x: torch.softmax(x, -1), lambda: (wide(torch.float32, 1024, ROWS * 8),)),
        "layer_norm": (lambda x, w: F.layer_norm(x, (COLUMNS,), w), lambda: (wide(), wide()[0])),
        "rms_norm": (lambda x, y, w: F.rms_norm(x + y, (COLUMNS,), w), lambda: (wide(BF16), wide(BF16), wide(BF16)[0])),
        "cumsum": (lambda x: x.cumsum(-1), lambda: (wide(),)),
        "cross_entropy": (
            lambda x, y: F.cross_entropy(x, y),
            lambda: (wide(torch.float32, 4096, ROWS * 2), numbers(ROWS * 2, 4096)),
        ),
    },
    "movement": {
        "transpose": (lambda x: x.t().contiguous(), lambda: (wide(),)),
        "transpose_add": (lambda x, y: x + y.t(), lambda: (wide(), wide(torch.float32, COLUMNS, ROWS))),
        "permute": (lambda x: x.view(-1, 64, 64, 128).transpose(1, 2).contiguous(), lambda: (wide(BF16),)),
        "half": (lambda x: x[:, : COLUMNS // 2] * 2, lambda: (wide(),)),
        "every_second": (lambda x: x[:, ::2] * 2, lambda: (wide(),)),
        "flip": (lambda x: x.flip(-1), lambda: (wide(),)),
        "roll": (lambda x: x.roll(5, -1), lambda: (wide(),)),
        "cat": (lambda x, y: torch.cat((x, y), -1) + 1, lambda: (wide(), wide())),
        "pad": (lambda x: F.pad(x, (3, 5, 2, 1)), lambda: (wide(),)),
        "upsample": (
            lambda x: F.interpolate(x, scale_factor=2.0),
            lambda: (wide(torch.float32, ROWS // 2).view(1, -1, 512, 512),),
        ),
        "max_pool": (lambda x: F.max_pool2d(x, 3, 1, 1), lambda: (wide().view(1, -1, 512, 512),)),
        "embedding": (
            lambda i, w: F.embedding(i, w),
            lambda: (numbers(ROWS * 8, ROWS * 8), wide(BF16, ROWS * 8, 2048)),
        ),
        "index_add": (
            lambda x, i, y: x.index_add(0, i, y),
            lambda: (wide(torch.float32, ROWS, 4096), numbers(ROWS, ROWS), wide(torch.float32, ROWS, 4096)),
        ),
    },
    "matmul": {
        "bf16": (lambda x, w: x @ w, lambda: (square(BF16), square(BF16))),
        "float32": (lambda x, w: x @ w, lambda: (square(), square())),
        "tf32": (lambda x, w: x @ w, lambda: (square(), square())),
        "bf16_relu": (
            lambda x, w, b: torch.relu(torch.addmm(b, x, w)),
            lambda: (*(square(BF16),) * 2, square(BF16)[0]),
        ),
        "of_a_part": (lambda x, w: x[:, : w.shape[0]] @ w, lambda: (wide(BF16), square(BF16, 4096))),
        "vector": (lambda x, w: x @ w, lambda: (square(BF16)[:16].repeat(1, 2), square(BF16, 16384))),
        "batched": (
            lambda x, y: torch.bmm(x, y),
            lambda: (square(BF16).view(64, 1024, -1), square(BF16).view(64, -1, 1024)),
        ),
        "attention": (
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
            lambda: tuple(wide(BF16).view(8, 32, -1, 128) for _ in "qkv"),
        ),
        "convolution": (
            lambda x, w: F.conv2d(x, w, padding=1),
            lambda: (
                torch.randn(64, 256, 56, 56, device=DEVICE, dtype=BF16),
                torch.randn(256, 256, 3, 3, device=DEVICE, dtype=BF16),
            ),
        ),
    },
    "tiny": {
        "add": (lambda x: x + 1, lambda: (torch.randn(64, device=DEVICE),)),
        "sum": (lambda x: x.sum(), lambda: (torch.randn(64, device=DEVICE),)),
        "mm": (lambda x, w: x @ w, lambda: (torch.randn(16, 16, device=DEVICE), torch.randn(16, 16, device=DEVICE))),
    },
}


def wait() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def main(trace: str, group: str) -> None:
    made, start = [], time.monotonic()
    for name, (function, inputs) in GROUPS[group].items():
        if time.monotonic() - start > COMPILE_SECONDS:
            print(f"{name}: left out, no time")
            continue
        torch.set_float32_matmul_precision("high" if name == "tf32" else "highest")
        try:
            compiled = torch.compile(function, dynamic=False)
            compiled(*inputs())
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
            continue
        made.append((name, compiled, inputs))
        print(f"compiled {name}", flush=True)
    wait()
    with torch.profiler.profile() as profile:
        for name, compiled, inputs in made:
            torch.set_float32_matmul_precision("high" if name == "tf32" else "highest")
            given = inputs()
            for _ in range(CALLS):
                compiled(*given)
            wait()
    profile.export_chrome_trace(trace)


if __name__ == "__main__":
    with torch.no_grad():
        main(*sys.argv[1:])
