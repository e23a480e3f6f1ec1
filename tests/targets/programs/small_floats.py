"""Products of float8, scaled by tensor and by row, and a graph of bfloat16."""

import torch

LARGEST = torch.finfo(torch.float8_e4m3fn).max


@torch.compile
def product(x: torch.Tensor, weight: torch.Tensor, by_row: bool) -> torch.Tensor:
    """In float8, as float16."""
    scales = [
        (value.abs().amax(dim=1, keepdim=True) if by_row else value.abs().max()).float() / LARGEST
        for value in (x, weight)
    ]
    small = [(value / scale).to(torch.float8_e4m3fn) for value, scale in zip((x, weight), scales, strict=True)]
    return torch._scaled_mm(small[0], small[1].t(), scales[0], scales[1].t(), out_dtype=torch.bfloat16).half()


x, weight = torch.ones(64, 128).half(), torch.ones(256, 128).half()
print(product(x, weight, False).shape, product(x, weight, True).shape)
print(torch.compile(lambda x: (x.sin() * 2).sum(0))(torch.ones(64, 64).bfloat16()).dtype)
