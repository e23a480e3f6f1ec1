"""A matmul that torch measures templates for; at the end the driver is asked what each of them takes.

    python templates.py [subproc] [pipelined] [combo]

subproc: measured in processes of their own; pipelined: there, while the compile goes on; combo: kernels of several parts
instead, each with block sizes of its own. Prints a JSON object: of each template registers, words of spilled ones and
bytes of shared memory, and how often a combo kernel was timed.
"""

import json
import sys

import torch
from torch._dynamo.utils import counters
from torch._inductor import config, select_algorithm
from torch._inductor.codecache import PyCodeCache

config.autotune_local_cache = False
config.autotune_in_subproc = "subproc" in sys.argv
config.pipeline_max_autotune_gemm = "pipelined" in sys.argv
if config.pipeline_max_autotune_gemm:
    config.benchmark_epilogue_fusion = False  # torch asks for it
config.max_autotune_gemm_backends = "ATEN,TRITON"
requests = {}


def seen(choices):
    requests.update({choice.name: choice.bmreq for choice in choices if choice.name.startswith("triton_mm")})
    return choices


def matmul(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return torch.relu(x @ weight)


def parts(x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.relu(x) + 1, weight.sum(1)


def asked(request) -> tuple[int, int, int]:
    """What the driver says of it once it is loaded."""
    kernel = getattr(PyCodeCache.load_by_key_path(request.module_cache_key, request.module_path), request.kernel_name)
    if not kernel.launchers:
        kernel.precompile()
    launcher = kernel.launchers[0]
    return launcher.n_regs, launcher.n_spills, launcher.shared


def main() -> None:
    """Torch may start processes that import this file."""
    select_algorithm.add_preprocessing_fn(seen)
    torch.manual_seed(0)
    if "combo" in sys.argv:
        config.combo_kernels = config.combo_kernel_per_subkernel_blocks = True
        x, weight = torch.randn(1 << 18, device="cuda"), torch.randn(4096, 512, device="cuda")
        step = torch.compile(parts)
    else:
        x, weight = (torch.randn(512, 512, device="cuda", dtype=torch.float16) for _ in range(2))
        step = torch.compile(matmul, options={"max_autotune_gemm": True})
    with torch.no_grad():
        for _ in range(2):
            step(x, weight)
    torch.cuda.synchronize()
    told = {}
    for name, request in requests.items():
        try:
            told[name] = asked(request)
        except RuntimeError:
            continue  # the GPU has not enough of what it asks for
    print(json.dumps({"templates": told, "timed": counters["inductor"]["combo_autotune_bench"]}))


if __name__ == "__main__":
    main()
