"""Trains as scripts for CUDA do, and prints what came out to the bit, and what torch.cuda says.

On CUDA it also launches Triton kernels, and ends with an operator that no CPU has.

python on_cuda.py DEVICE BACKEND
"""

import contextlib
import hashlib
import io
import sys
from collections.abc import Callable

import torch
from torch import nn

device, backend = sys.argv[1:]
is_cuda = device == "cuda"


def result(what: str, *tensors: torch.Tensor) -> None:
    """Bytes that have to be the same wherever they are computed."""
    print("result", what, *(hashlib.sha256(x.detach().float().cpu().numpy().tobytes()).hexdigest()[:12] for x in tensors))


class Net(nn.Module):
    """One that asks where it is."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(32, 16)
        self.layer = nn.Linear(16, 16)
        self.norm = nn.LayerNorm(16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert x.is_cuda == is_cuda
        assert x.device.type == device
        places = torch.arange(x.shape[1], device=x.device)
        h = self.table(x) + self.table(places).to(device) + torch.ones(1, device=device)
        if is_cuda:
            h = h.cuda()
        return self.norm(self.layer(nn.functional.dropout(h, 0.1)))


def told() -> None:
    """What is said to be there."""
    properties = torch.cuda.get_device_properties(0)
    print("told", torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.current_device())
    print("told", torch.cuda.get_device_name(), torch.cuda.get_device_capability("cuda:0"), properties.total_memory >> 30)
    print("told", torch.accelerator.current_accelerator(), torch.cuda.is_bf16_supported())


def places() -> None:
    """All ways to a device."""
    ways: list[Callable[[], torch.Tensor]] = [
        lambda: torch.randn(3, device=device),
        lambda: torch.randn(3).to(f"{device}:0"),
        lambda: torch.randn(3).to(torch.device(device), torch.float16),
        lambda: torch.randint(9, (3,), device=device, generator=torch.Generator(device=device).manual_seed(3)),
        lambda: torch.tril_indices(3, 3, device=device),
        lambda: torch.load(saved, map_location=device)["x"],
        lambda: nn.Linear(2, 2).to(device).weight,
    ]
    for way in ways:
        saved = io.BytesIO()
        torch.save({"x": torch.arange(3.0)}, saved)
        saved.seek(0)
        made = way()
        assert made.is_cuda == is_cuda
        assert made.device == torch.device(device, 0 if is_cuda else None)
        result("place", made)
    torch.set_default_device(device)
    result("default", torch.randn(3))
    with torch.device(device):
        result("default", nn.Linear(2, 2).weight)
    torch.set_default_device("cpu")


def train() -> None:
    """With autocast, a scaler and a clock."""
    model = Net().to(device)
    compiled = torch.compile(model, backend=backend)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(device)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2)) if is_cuda else (None, None)
    for _ in range(2):
        x = torch.randint(32, (4, 8))
        x = x.pin_memory().to(device, non_blocking=True) if is_cuda else x
        with torch.cuda.stream(torch.cuda.Stream()) if is_cuda else contextlib.nullcontext():
            if begin is not None:
                begin.record()
            with torch.autocast(device, dtype=torch.bfloat16):
                loss = compiled(x).float().square().mean()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
        if begin is not None and end is not None:
            end.record()
            torch.cuda.synchronize()
            assert begin.elapsed_time(end) > 0
        result("loss", loss)
    result("net", *model.parameters())
    asked = torch.compile(lambda x: x * 3 if torch.is_autocast_enabled(device) else x, fullgraph=True)
    with torch.autocast(device):
        result("asked", asked(torch.ones(2, device=device)))
    if is_cuda:
        assert torch.cuda.max_memory_allocated() == 0


torch.manual_seed(0)
if is_cuda:
    told()
    torch.cuda.manual_seed_all(0)
    torch.cuda.empty_cache()
places()
train()
result("rng", torch.get_rng_state())
if is_cuda:
    import own_kernels

    print("told", own_kernels.DEVICE)
    half = torch.ones(1, 1, 16, 16, device=device, dtype=torch.float16)
    torch.ops.aten._scaled_dot_product_cudnn_attention(half, half, half, None, False)
