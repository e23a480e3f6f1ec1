"""Trains a compiled model: `trained.py gpt2|resnet --device DEVICE --steps N [--mode MODE] [--amp]`.

Prints one JSON line: seconds of a step, the mean over the steps after the compile: on a GPU between two CUDA events,
with nothing that waits for the device in between; elsewhere CPU seconds. Under torchrun with DistributedDataParallel;
rank 0 prints.
"""

import argparse
import json
import os
import time

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional

WARM = 8
"""Steps before those that are timed: the compile, and CUDA graphs that are recorded."""


class Layer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        parts = self.attention(self.first(x)).chunk(3, -1)
        query, key, value = (one.unflatten(-1, (self.heads, -1)).transpose(1, 2) for one in parts)
        read = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.joined(read.transpose(1, 2).flatten(2))
        return x + self.down(functional.gelu(self.up(self.second(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, layers: int, width: int, heads: int, words: int, length: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.layers = nn.Sequential(*(Layer(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor, wanted: Tensor) -> Tensor:
        x = self.words(tokens) + self.places.weight[: tokens.shape[1]]
        logits = functional.linear(self.norm(self.layers(x)), self.words.weight)
        return functional.cross_entropy(logits.flatten(0, 1), wanted.flatten())


class Bottleneck(nn.Module):
    def __init__(self, inside: int, width: int, stride: int) -> None:
        super().__init__()
        out = 4 * width
        self.body = nn.Sequential(
            *(nn.Conv2d(inside, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()),
            *(nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()),
            *(nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out)),
        )
        short = nn.Sequential(nn.Conv2d(inside, out, 1, stride, bias=False), nn.BatchNorm2d(out))
        self.short = short if inside != out or stride != 1 else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.body(x) + self.short(x))


class Resnet(nn.Module):
    def __init__(self, blocks: tuple[int, ...], width: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
        layers.append(nn.MaxPool2d(3, 2, 1))
        inside = width
        for stage, count in enumerate(blocks):
            for block in range(count):
                layers.append(Bottleneck(inside, width << stage, 2 if stage and not block else 1))
                inside = 4 * (width << stage)
        self.body = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, 1000))

    def forward(self, x: Tensor, wanted: Tensor) -> Tensor:
        return functional.cross_entropy(self.body(x), wanted)


def model(name: str, device: str, batch: int | None = None) -> tuple[nn.Module, tuple[Tensor, Tensor]]:
    """The model, and a batch with what it should say, of so many samples if `batch` says how many."""
    is_large = device.startswith("cuda")
    if name == "gpt2":
        words, length, usual = (50304, 1024, 8) if is_large else (512, 128, 2)
        made: nn.Module = Gpt2(12, 768, 12, words, length) if is_large else Gpt2(3, 128, 4, words, length)
        count = batch or usual
        return made, (torch.randint(0, words, (count, length)), torch.randint(0, words, (count, length)))
    made = Resnet((3, 4, 6, 3), 64) if is_large else Resnet((1, 1), 16)
    size, usual = (224, 64) if is_large else (64, 4)
    count = batch or usual
    return made, (torch.randn(count, 3, size, size), torch.randint(0, 1000, (count,)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--device", required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--mode")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--amp", action="store_true")
    asked = parser.parse_args()
    is_gpu = asked.device.startswith("cuda")
    rank = 0
    if dist.is_torchelastic_launched():
        dist.init_process_group("nccl" if is_gpu else "gloo")
        rank = dist.get_rank()
        if is_gpu:
            torch.cuda.set_device(rank)
    if not is_gpu:
        torch.set_num_threads(1)
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    made, batch = model(asked.model, asked.device, asked.batch)
    made.to(asked.device)
    given = [one.to(asked.device) for one in batch]
    if dist.is_initialized():
        made = nn.parallel.DistributedDataParallel(made, device_ids=[rank] if is_gpu else None)
    compiled = torch.compile(made, mode=asked.mode)
    optimizer = torch.optim.AdamW(made.parameters(), lr=1e-4, fused=is_gpu)

    def step() -> None:
        with torch.autocast(asked.device.partition(":")[0], torch.bfloat16, enabled=asked.amp):
            loss = compiled(*given)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    for _ in range(WARM):
        step()
    if is_gpu:
        torch.cuda.synchronize()
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        for _ in range(asked.steps):
            step()
        last.record()
        torch.cuda.synchronize()
        seconds = first.elapsed_time(last) / 1e3 / asked.steps
    else:
        started = time.process_time()
        for _ in range(asked.steps):
            step()
        seconds = (time.process_time() - started) / asked.steps
    if rank == 0:
        print(json.dumps({"seconds": seconds}), flush=True)
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
