"""One model, eager and compiled: `checked.py gpt2|resnet|mlp inference|training CALL [cpu|cuda]`.

Prints one JSON line: seconds of an eager call and of a compiled one (medians), and of the compiled call number CALL,
which `numerics --calls CALL` checks; and the bytes that each needs at most, weights and inputs included. On a CPU these
are CPU seconds of one thread and resident memory, on a GPU the time until it has ended and the memory that torch has
taken there. A call of a model that trains is a step: forward and backward. On a GPU the models are larger, so that it
has something to do.
"""

import ctypes
import gc
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from torch import Tensor, nn
from trained import Gpt2  # type: ignore[import-not-found]

EAGER_CALLS, COMPILED_CALLS = 7, 15


def gpt2(device: str) -> tuple[nn.Module, tuple[Tensor, ...]]:
    if device != "cpu":
        return Gpt2(6, 768, 12, 50304, 512), (torch.randint(0, 50304, (8, 512)), torch.randint(0, 50304, (8, 512)))
    from transformers import GPT2Config, GPT2Model

    config = GPT2Config(
        n_layer=4,
        n_embd=256,
        n_head=4,
        vocab_size=512,
        n_positions=128,
        bos_token_id=0,
        eos_token_id=0,
        use_cache=False,
    )
    return GPT2Model(config), (torch.randint(0, 512, (4, 128)),)


def resnet(device: str) -> tuple[nn.Module, tuple[Tensor, ...]]:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = (nn.Conv2d(32, 32, 3, padding=1, bias=False) for _ in range(2))
            self.norm, self.other = nn.BatchNorm2d(32), nn.BatchNorm2d(32)

        def forward(self, x: Tensor) -> Tensor:
            return torch.relu(x + self.other(self.second(torch.relu(self.norm(self.first(x))))))

    batch, size = (8, 64) if device == "cpu" else (64, 224)
    return nn.Sequential(nn.Conv2d(3, 32, 3), *(Block() for _ in range(4))), (torch.randn(batch, 3, size, size),)


def mlp(device: str) -> tuple[nn.Module, tuple[Tensor, ...]]:
    width = 512 if device == "cpu" else 4096
    layers = [nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)]
    return nn.Sequential(*layers, *layers), (torch.randn(width, width),)


MODELS = {"gpt2": gpt2, "resnet": resnet, "mlp": mlp}


def seconds(call: Callable[[], object], device: str) -> float:
    if device == "cpu":
        started = time.process_time()
        call()
        return time.process_time() - started
    torch.cuda.synchronize()
    started = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return time.perf_counter() - started


def peak(call: Callable[[], object], device: str) -> tuple[float, int]:
    """Seconds of one call, and the bytes by which it raises the memory that is in use at most."""
    gc.collect()
    if device != "cpu":
        torch.cuda.reset_peak_memory_stats()
        held = torch.cuda.memory_allocated()
        took = seconds(call, device)
        return took, torch.cuda.max_memory_allocated() - held
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark begins anew
    before = _status("VmRSS")
    took = seconds(call, device)
    return took, max(0, _status("VmHWM") - before)


def _status(field: str) -> int:
    found = re.search(rf"{field}:\s*(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) * 1024


def main() -> None:
    name, kind, number, device = sys.argv[1], sys.argv[2], int(sys.argv[3]), (*sys.argv[4:], "cpu")[0]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model, given = MODELS[name](device)
    model, given = model.to(device), tuple(one.to(device) for one in given)
    model.train(kind == "training")
    compiled = torch.compile(model)

    def step(function: Callable[..., object]) -> Callable[[], object]:
        def call() -> None:
            with torch.set_grad_enabled(kind == "training"):
                found = function(*given)
                if kind == "training":
                    tensor = found if isinstance(found, Tensor) else found[0]  # type: ignore[index]
                    tensor.square().mean().backward()
            model.zero_grad(set_to_none=True)

        return call

    eager, other = step(model), step(compiled)
    eager()
    eager_times = [seconds(eager, device) for _ in range(EAGER_CALLS)]
    _, eager_peak = peak(eager, device)
    for _ in range(number - 1):
        other()
    checked, checked_peak = peak(other, device)
    compiled_times = [seconds(other, device) for _ in range(COMPILED_CALLS)]
    held = sum(one.numel() * one.element_size() for one in (*model.parameters(), *model.buffers(), *given))
    told = {"eager": statistics.median(eager_times), "compiled": statistics.median(compiled_times), "checked": checked}
    print(json.dumps(told | {"eager_bytes": held + eager_peak, "checked_bytes": held + checked_peak}), flush=True)


if __name__ == "__main__":
    main()
