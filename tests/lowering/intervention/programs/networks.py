"""Small networks and steps of training, whose kernels get planted mistakes: for each, a function that makes it.

What is made is called without arguments, compiled or not, and returns the tensors to compare; gradients among them if
it trains.
"""

import contextlib
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple
from unittest import mock

import torch
import torch.nn.functional as F
from special import Picture, Template, aliased, autocast, dynamic, each  # type: ignore[import-not-found]
from torch import Tensor, nn
from torch._higher_order_ops.while_loop import while_loop
from torch._inductor import config
from torch._inductor.codegen.cpp import CppScheduling

Step = Callable[[Callable[..., Tensor]], list[Tensor]]


class Program(NamedTuple):
    """What is compiled, and how it is called."""

    make: Callable[[], tuple[Callable[..., Tensor], tuple[Tensor, ...]]]
    """Returns the module or function, and its arguments."""
    trains: bool = False
    half: bool = False
    """It computes in bfloat16."""
    apart: bool = False
    """Each operation has a kernel of its own."""
    settings: Mapping[str, Any] = MappingProxyType({})
    """Settings of Inductor's."""
    is_dynamic: bool | None = None
    """Whether sizes are symbols; None as torch decides."""


class Mlp(nn.Module):
    """GELU and layer norm."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(64), nn.Linear(64, 128), nn.Linear(128, 64)

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(2):
            x = x + self.down(F.gelu(self.up(self.norm(x))))
        return x


class Attention(nn.Module):
    """Causal attention, written out."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.mT / 32**0.5
        at = torch.arange(x.shape[1], device=x.device)
        scores = scores.masked_fill(~(at[None] <= at[:, None]), float("-inf"))
        found: Tensor = self.out(scores.softmax(-1) @ v)
        return found


class Distances(nn.Module):
    """Distances of points, cut off."""

    def forward(self, x: Tensor) -> Tensor:
        apart = x[:, :, None] - x[:, None]
        near = (apart * apart).sum(-1)
        kept: Tensor = torch.where(near <= 40.0, near.sqrt(), 0.0)
        return kept - near.mean(-1, keepdim=True)


class Pictures(nn.Module):
    """Convolution, batch norm, pooling and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.out = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        found = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
        classes: Tensor = self.out(found.mean((2, 3)))
        return classes


class Recurrent(nn.Module):
    """A GRU, written out, over a few steps."""

    def __init__(self) -> None:
        super().__init__()
        self.input, self.hidden = nn.Linear(12, 96), nn.Linear(32, 96)

    def forward(self, x: Tensor) -> Tensor:
        h = x.new_zeros(x.shape[0], 32)
        for at in range(x.shape[1]):
            reset, update, new = self.input(x[:, at]).chunk(3, -1)
            hidden_reset, hidden_update, hidden_new = self.hidden(h).chunk(3, -1)
            gate = torch.sigmoid(update + hidden_update)
            candidate = torch.tanh(new + torch.sigmoid(reset + hidden_reset) * hidden_new)
            h = (1 - gate) * candidate + gate * h
        return h


class Words(nn.Module):
    """Embeddings and cross entropy."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places, self.out = nn.Embedding(50, 24), nn.Embedding(16, 24), nn.Linear(24, 50)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        scores = self.out(torch.tanh(x))[:, :-1]
        return F.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten(), label_smoothing=0.1)


class Rotary(nn.Module):
    """RMS norm, rotary positions and a gated layer, as in Llama."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(64) + 0.5)
        self.query, self.gate, self.up = (nn.Linear(64, 64, bias=False) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        x = self.scale * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)
        places = torch.arange(x.shape[1], device=x.device)
        angles = places[:, None] / 100 ** (torch.arange(32, device=x.device) / 32)
        angles = torch.cat([angles, angles], -1)
        q = self.query(x)
        turned = torch.cat([-q[..., 32:], q[..., :32]], -1)
        q = q * angles.cos().to(q.dtype) + turned * angles.sin().to(q.dtype)
        found: Tensor = F.silu(self.gate(q)) * self.up(x)
        return found


class Experts(nn.Module):
    """Each row goes to two of six experts."""

    def __init__(self) -> None:
        super().__init__()
        self.router, self.experts = nn.Linear(24, 6), nn.Parameter(torch.randn(6, 24, 24) / 5)

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.router(x).softmax(-1).topk(2)
        weights = weights / weights.sum(-1, keepdim=True)
        found = torch.einsum("nd,nkde->nke", x, self.experts[chosen])
        load = F.one_hot(chosen, 6).sum((0, 1)).float()
        mixed: Tensor = (F.relu(found) * weights[..., None]).sum(1)
        return mixed * (1 + load.var())


class Block(nn.Module):
    """A residual block of a UNet: group norm, SiLU, a time embedding, upsampling."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.time = nn.Conv2d(8, 16, 3, padding=1), nn.GroupNorm(4, 16), nn.Linear(12, 16)
        self.skip = nn.Conv2d(8, 16, 1)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        found = self.first(x) + self.time(F.silu(time))[:, :, None, None]
        found = F.silu(self.norm(found)) + self.skip(x)
        return F.interpolate(found, scale_factor=2.0, mode="nearest")


class Graph(nn.Module):
    """Messages along the edges of a graph, added up at their ends."""

    def __init__(self) -> None:
        super().__init__()
        self.message, self.out = nn.Linear(32, 16), nn.Linear(16, 16)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        start, end = edges
        sent = F.leaky_relu(self.message(torch.cat([x[start], x[end]], -1)), 0.2)
        count = x.new_zeros(x.shape[0]).index_add(0, end, torch.ones(len(end), device=x.device)).clamp(min=1)
        received = torch.zeros_like(x).index_add(0, end, sent) / count[:, None]
        mixed: Tensor = x + self.out(received)
        return mixed


def adam(weight: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, step: Tensor) -> Tensor:
    """One step of AdamW."""
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.99 * square + 0.01 * gradient * gradient
    unbiased, spread = mean / (1 - 0.9**step), (square / (1 - 0.99**step)).sqrt()
    moved = weight * (1 - 1e-2 * 0.1) - 1e-2 * unbiased / (spread + 1e-8)
    return torch.stack([moved, mean, square])


def focal(scores: Tensor, target: Tensor) -> Tensor:
    """The focal loss of a softmax."""
    logs = scores.log_softmax(-1)
    mine = logs.gather(1, target[:, None])[:, 0]
    hardness = (1 - mine.exp()) ** 2
    return -(hardness * mine).mean() + 1e-2 * torch.logsumexp(scores, -1).square().mean()


def picked(x: Tensor, scores: Tensor) -> Tensor:
    """Rows at indices that one kernel computes and another one reads; the rows are scaled."""
    return x[scores.argmax(1)] * 1.5


def scans(x: Tensor) -> Tensor:
    """Sums and products along a row, and a recurrence made of them."""
    decay = torch.sigmoid(x).cumprod(1)
    total = (x / (decay + 0.5)).cumsum(1) * decay
    return total + x.cumsum(1).flip(1).clamp(-3, 3) * torch.cummax(x, 1).values


def resized(x: Tensor) -> Tensor:
    """A picture made larger, padded and blurred."""
    large = F.interpolate(x, size=(20, 24), mode="bilinear", align_corners=False)
    padded = F.pad(large, (1, 2, 2, 1), mode="reflect")
    smooth = F.avg_pool2d(padded, 3, stride=2)
    return (smooth - smooth.amin((2, 3), keepdim=True)) / (smooth.amax((2, 3), keepdim=True) + 0.1)


def normed(x: Tensor) -> Tensor:
    """A matrix over its norm, which is one number of all elements, and a step towards an orthogonal one."""
    x = x / (x.norm() + 1e-7)
    step = x @ x.T
    found: Tensor = 3.4445 * x + (2.0315 * step @ step - 4.775 * step) @ x
    return found


def cached(keys: Tensor, query: Tensor, at: Tensor) -> Tensor:
    """A cache of keys: a copy, of which one kernel then writes some rows anew."""
    keys = keys.clone()
    keys[:, at] = query * 0.5 + 0.1
    return (query @ keys.mT).softmax(-1) @ keys


def quantized(x: Tensor, weight: Tensor) -> Tensor:
    """A product of whole numbers, of which a little less than one would be another one."""
    scale, other = x.abs().amax(1, keepdim=True) / 127, weight.abs().amax(1) / 7
    whole = (x / scale).round().clamp(-128, 127).to(torch.int8).int()
    small = (weight / other[:, None]).round().clamp(-8, 7).to(torch.int8).int()
    return (whole[:, None] * small).sum(-1) * scale * other


def stages(x: Tensor, at: Tensor) -> Tensor:
    """Variances and means, and sums in places that are told: what is lowered in several steps."""
    spread, mean = torch.var_mean(x, dim=0)
    x = (x - mean) / (spread + 0.1).sqrt()
    found = torch.zeros(12, x.shape[1], device=x.device).index_add(0, at, x * 1.5)
    return found * (1 + found.mean(1, keepdim=True)) + x.var(1)[:12, None]


@torch.compiler.nested_compile_region
def region(x: Tensor) -> Tensor:
    """Compiled once for all calls."""
    return torch.sigmoid(x) * x + 0.5


def nested(x: Tensor) -> Tensor:
    """A branch, a loop and a region that is called twice."""
    x = region(x)
    branch: Tensor = torch.cond(x.sum() > 0, lambda one: one.sin() * 2 - 1, lambda one: one.cos() + 3, (x,))

    def is_open(turn: Tensor, one: Tensor) -> Tensor:
        return turn < 3

    def body(turn: Tensor, one: Tensor) -> tuple[Tensor, Tensor]:
        return turn + 1, torch.tanh(one * 1.2 + 0.25)

    first = torch.zeros((), dtype=torch.int64, device=x.device), branch.exp()
    _, looped = while_loop(is_open, body, first)  # type: ignore[no-untyped-call]
    found: Tensor = region(looped - branch)
    return found


def _words() -> Tensor:
    return torch.randint(50, (4, 12))


def on_gpu(name: str, size: int) -> Callable[[], tuple[Callable[..., Tensor], tuple[Tensor, ...]]]:
    """A function of `triton_forms.py` and two matrices for it: Triton is imported where it is used."""

    def make() -> tuple[Callable[..., Tensor], tuple[Tensor, ...]]:
        return getattr(import_module("triton_forms"), name), (torch.randn(128, size), torch.randn(size, 128))

    return make


PROGRAMS: dict[str, Program] = {
    "mlp": Program(lambda: (Mlp(), (torch.randn(4, 16, 64),))),
    "attention": Program(lambda: (Attention(), (torch.randn(2, 24, 32),))),
    "distances": Program(lambda: (Distances(), (torch.randn(2, 20, 24),))),
    "pictures": Program(lambda: (Pictures(), (torch.randn(4, 3, 12, 12),)), trains=True),
    "recurrent": Program(lambda: (Recurrent(), (torch.randn(5, 3, 12),)), trains=True),
    "words": Program(lambda: (Words(), (_words(),)), trains=True),
    "rotary": Program(lambda: (Rotary(), (torch.randn(3, 10, 64),)), half=True),
    "experts": Program(lambda: (Experts(), (torch.randn(18, 24),))),
    "block": Program(lambda: (Block(), (torch.randn(2, 8, 6, 6), torch.randn(2, 12))), trains=True),
    "graph": Program(lambda: (Graph(), (torch.randn(20, 16), torch.randint(20, (2, 60)))), trains=True),
    "adam": Program(lambda: (adam, (*torch.randn(3, 40, 30), torch.rand(40, 30), torch.tensor(3.0)))),
    "focal": Program(lambda: (focal, (torch.randn(30, 20), torch.randint(20, (30,)))), trains=True),
    "picked": Program(lambda: (picked, (torch.randn(9, 40), torch.randn(12, 9))), apart=True),
    "scans": Program(lambda: (scans, (torch.randn(10, 40),))),
    "normed": Program(lambda: (normed, (torch.randn(12, 20),))),
    "cached": Program(lambda: (cached, (torch.randn(2, 9, 8), torch.randn(2, 2, 8), torch.tensor([3, 5])))),
    "quantized": Program(lambda: (quantized, (torch.randn(9, 40), torch.randn(8, 40)))),
    "stages": Program(lambda: (stages, (torch.randn(30, 20), torch.randint(12, (30,)))), apart=True),
    "nested": Program(lambda: (nested, (torch.randn(16, 24),))),
    "resized": Program(lambda: (resized, (torch.randn(2, 3, 9, 11),))),
    "template": Program(
        lambda: (Template().eval(), (torch.randn(48, 32),)),
        settings={"max_autotune": True, "max_autotune_gemm_backends": "CPP", "freezing": True},
    ),
    "channels-last": Program(
        lambda: (
            Picture().to(memory_format=torch.channels_last),
            (torch.randn(2, 4, 8, 8).to(memory_format=torch.channels_last),),
        ),
        trains=True,
    ),
    "autocast": Program(lambda: (autocast, (torch.randn(16, 32), torch.randn(32, 24))), trains=True),
    "dynamic": Program(lambda: (dynamic, (torch.randn(9, 20), torch.randn(7, 20))), is_dynamic=True),
    "foreach": Program(lambda: (each, (torch.randn(9, 20), torch.randn(7, 20)))),
    "aliased": Program(lambda: (aliased, (torch.randn(9, 8), torch.randn(8, 8)))),
    "combo": Program(on_gpu("parts", 4096), settings={"combo_kernels": True}),
    "triton-template": Program(
        on_gpu("epilogue", 128), settings={"max_autotune": True, "max_autotune_gemm_backends": "TRITON"}
    ),
    "own-kernel": Program(on_gpu("own", 300)),
    "mlp-half": Program(lambda: (Mlp(), (torch.randn(4, 16, 64),)), trains=True, half=True),
    "pictures-half": Program(lambda: (Pictures().eval(), (torch.randn(4, 3, 12, 12),)), half=True),
}


def prepared(name: str) -> tuple[Callable[..., Tensor], tuple[Tensor, ...]]:
    """The module or function of a program, and its arguments, the same each time."""
    torch.manual_seed(0)
    program = PROGRAMS[name]
    function, args = program.make()
    if isinstance(function, nn.Module):
        for each in function.parameters():  # those of norms are ones and zeros, which hide mistakes
            if each.dim() == 1:
                nn.init.normal_(each)
    if program.half:
        args = tuple(one.bfloat16() if one.is_floating_point() else one for one in args)
        if isinstance(function, nn.Module):
            function = function.bfloat16()
    if program.trains:
        args = tuple(one.requires_grad_(one.is_floating_point()) for one in args)
    return function, args


def results(name: str, *, compiled: bool) -> list[Tensor]:
    """What a program computes: gradients, and the running statistics of a batch norm, included."""
    function, args = prepared(name)
    apart = compiled and PROGRAMS[name].apart
    settings = {"max_fusion_size": 1} if apart else dict(PROGRAMS[name].settings)
    run = torch.compile(function, dynamic=PROGRAMS[name].is_dynamic) if compiled else function
    # C++ kernels take as many operations as there is room for their arguments.
    room = mock.patch.object(CppScheduling, "MAX_FUSED_KERNEL_ARGS_NUM", 0) if apart else contextlib.nullcontext()
    with torch.set_grad_enabled(PROGRAMS[name].trains), room, config.patch(settings):
        found = run(*args)
    if not PROGRAMS[name].trains:
        return list(found) if isinstance(found, tuple) else [found]
    # Each element has another weight, so that a mistake in one is not made up for by another.
    weights = torch.linspace(0.5, 1.5, found.numel(), dtype=found.dtype).reshape(found.shape)
    (found * weights).sum().backward()  # type: ignore[no-untyped-call]
    if not isinstance(function, nn.Module):
        return [found.detach(), *(one.grad for one in args if one.grad is not None)]
    learnt = [one.grad for one in (*args, *function.parameters()) if one.grad is not None]
    return [found.detach(), *learnt, *(one for one in function.buffers() if one.is_floating_point())]
