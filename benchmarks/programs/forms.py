"""One kind of computation, compiled: `forms.py bf16|float8|tuned_mm|tuned_conv`.

The tuned ones leave one candidate each, since a device that is not there times none.
"""

import sys

import torch
from torch._inductor import config

FLOAT8 = torch.float8_e4m3fn
LARGEST = torch.finfo(FLOAT8).max


def bf16() -> None:
    """A training step."""
    layers = (torch.nn.Linear(256, 512), torch.nn.LayerNorm(512), torch.nn.GELU(), torch.nn.Linear(512, 64))
    model = torch.nn.Sequential(*layers).bfloat16()
    torch.compile(model)(torch.randn(128, 256).bfloat16()).softmax(-1).square().sum().backward()


def float8() -> None:
    """A product, scaled as a whole: by row, the CPU of torch 2.11 has none."""

    @torch.compile
    def product(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        scales = [value.abs().max().float() / LARGEST for value in (x, weight)]
        small = [(value / scale).to(FLOAT8) for value, scale in zip((x, weight), scales, strict=True)]
        scaled = torch._scaled_mm(small[0], small[1].t(), scales[0], scales[1], out_dtype=torch.bfloat16)
        return scaled.relu()

    product(torch.randn(128, 256).bfloat16(), torch.randn(512, 256).bfloat16())


def tuned_mm() -> None:
    """The template of a matmul, with an epilogue."""
    only("BLOCK_K=32, BLOCK_M=64, BLOCK_N=64")
    torch.compile(lambda a, b: (a @ b).relu(), mode="max-autotune-no-cudagraphs")(
        torch.randn(512, 256).half(), torch.randn(256, 512).half()
    )


def tuned_conv() -> None:
    """The template of a convolution, with an epilogue."""
    only("BLOCK_K=32, BLOCK_M=128, BLOCK_N=64,.*num_stages=3")
    with torch.no_grad():
        model = torch.nn.Sequential(torch.nn.Conv2d(32, 64, 3, padding=1, bias=False), torch.nn.ReLU()).half().eval()
        torch.compile(model, mode="max-autotune-no-cudagraphs")(torch.randn(8, 32, 28, 28).half())


def only(configuration: str) -> None:
    """Of all templates, the one of this configuration."""
    config.test_configs.autotune_choice_name_regex = "triton"
    config.test_configs.autotune_choice_desc_regex = f"{configuration}.*"


FORMS = {
    "bf16": bf16,
    "float8": float8,
    "tuned_mm": tuned_mm,
    "tuned_conv": tuned_conv,
}

torch.manual_seed(0)
FORMS[sys.argv[1]]()
