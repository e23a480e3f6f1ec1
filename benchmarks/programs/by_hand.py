"""Programs with changes that were made by hand: what the findings should name is what helps most when it is done.

`by_hand.py NAME DEVICE STEPS` runs steps of a program as it is, for `inspect-compile` to watch.
`by_hand.py NAME DEVICE --changes` times it as it is and with each of its changes, in one process, and prints a line of
JSON: change → median seconds of a step, and the peak of memory.
"""

import itertools
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

Has = Callable[[str], bool]
"""Whether a change is made."""
Step = Callable[[], object]
NAME, DEVICE = sys.argv[1], sys.argv[2]
AS_IT_IS = "as it is"
OWN_SECONDS = 0.6
"""Seconds of steps that are timed of each change."""


def compiled(function: Callable[..., Tensor] | nn.Module, has: Has) -> Callable[..., Tensor]:
    """As each program compiles: with defaults, but for the changes that most of them have."""
    if has("eager"):
        return function
    return torch.compile(function, mode="reduce-overhead" if has("reduce-overhead") else None)


def trained(
    model: nn.Module, loss: Callable[..., Tensor], has: Has, *inputs: Tensor, optimizer: type = torch.optim.AdamW
) -> Step:
    """A step of training of a compiled model: `loss` of what it returns."""
    model = model.to(DEVICE).train()
    steps = optimizer(model.parameters(), 1e-4, fused=True) if has("fused") else optimizer(model.parameters(), 1e-4)
    run = compiled(model, has)

    def step() -> Tensor:
        with torch.autocast(DEVICE, torch.bfloat16, enabled=has("bfloat16")):
            value = loss(run(*inputs))
        value.backward()
        steps.step()
        steps.zero_grad()
        return value

    return step


def inferred(model: nn.Module, has: Has, *inputs: Tensor) -> Step:
    """A call without gradients."""
    run = compiled(model.to(DEVICE).eval(), has)

    def step() -> Tensor:
        with torch.no_grad(), torch.autocast(DEVICE, torch.bfloat16, enabled=has("bfloat16")):
            return run(*inputs)

    return step


def or_also(has: Has, *names: str) -> Has:
    """These changes belong to the program as it is."""
    return lambda name: name in names or has(name)


def made(*shape: int, **options: object) -> Tensor:
    return torch.randn(*shape, device=DEVICE, **options)


def numbers(most: int, *shape: int) -> Tensor:
    return torch.randint(0, most, shape, device=DEVICE)


class Cross(nn.Module):
    """A recommender: embeddings, crosses of features, a deep part."""

    def __init__(self, fields: int = 26, width: int = 32):
        super().__init__()
        wide = fields * width
        self.tables = nn.ModuleList(nn.Embedding(60000, width) for _ in range(fields))
        self.crosses = nn.ModuleList(nn.Linear(wide, wide) for _ in range(3))
        self.deep = nn.Sequential(nn.Linear(wide, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 1))

    def forward(self, ids: Tensor) -> Tensor:
        first = x = torch.cat([table(ids[:, k]) for k, table in enumerate(self.tables)], 1)
        for cross in self.crosses:
            x = first * cross(x) + x
        return self.deep(x).squeeze(1)


def recommender(has: Has) -> Step:
    truth = numbers(2, 8192).float()
    return trained(Cross(), lambda y: F.binary_cross_entropy_with_logits(y, truth), has, numbers(60000, 8192, 26))


class Block(nn.Module):
    """A layer of a transformer; attention by hand, unless asked otherwise."""

    def __init__(self, width: int, heads: int, is_fused: bool, is_causal: bool = False, dropout: float = 0.0):
        super().__init__()
        self.heads, self.is_fused, self.is_causal, self.dropout = heads, is_fused, is_causal, dropout
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        qkv = self.qkv(self.first(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        if self.is_fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.is_causal, dropout_p=self.dropout)
        else:
            scores = q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5
            if self.is_causal:
                mask = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
                scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
            y = F.dropout(scores.float().softmax(-1).to(v.dtype), self.dropout) @ v
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.second(x))))


class Transformer(nn.Module):
    """Words, layers, a head."""

    def __init__(self, words: int, width: int, heads: int, layers: int, **options: object):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Block(width, heads, **options) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def encoder(has: Has) -> Step:
    """float32, without gradients."""
    return inferred(Transformer(1000, 768, 12, 6, is_fused=True), has, numbers(1000, 32, 128))


def language_model(has: Has) -> Step:
    """bfloat16, attention by hand."""
    model = Transformer(16000, 768, 12, 6, is_fused=has("sdpa"), is_causal=True, dropout=0.1)
    ids = numbers(16000, 8, 512)
    loss = lambda y: F.cross_entropy(y.flatten(0, 1).float(), ids.flatten())  # noqa: E731
    return trained(model, loss, or_also(has, "bfloat16"), ids)


class Policy(nn.Module):
    """A recurrent policy, which is asked for one observation after another."""

    def __init__(self, width: int = 256):
        super().__init__()
        self.first, self.cell = nn.Linear(24, width), nn.GRUCell(width, width)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU()) for _ in range(5)
        )
        self.actions = nn.Linear(width, 6)

    def forward(self, seen: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        state = self.cell(F.silu(self.first(seen)), state)
        x = state
        for layer in self.layers:
            x = x + layer(x)
        return self.actions(x).softmax(-1), state


def policy(has: Has) -> Step:
    run = compiled(Policy().to(DEVICE).eval(), has)
    seen, state = made(1, 24), [made(1, 256)]

    def step() -> Tensor:
        with torch.no_grad():
            actions, new = run(seen, state[0])
            state[0] = new.clone()
            return actions if has("no item") else torch.tensor(actions.argmax().item())

    return step


class Decoder(nn.Module):
    """One token after another, over a cache."""

    def __init__(self, width: int = 1024, layers: int = 8, most: int = 1024):
        super().__init__()
        self.words, self.head = nn.Embedding(32000, width), nn.Linear(width, 32000, bias=False)
        self.qkv = nn.ModuleList(nn.Linear(width, 3 * width, bias=False) for _ in range(layers))
        self.out = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(layers))
        self.up = nn.ModuleList(nn.Linear(width, 4 * width, bias=False) for _ in range(layers))
        self.down = nn.ModuleList(nn.Linear(4 * width, width, bias=False) for _ in range(layers))
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2 * layers))
        self.register_buffer("cache", torch.zeros(layers, 2, 1, 16, most, width // 16))

    def forward(self, token: Tensor, place: Tensor) -> Tensor:
        x = self.words(token)
        mask = torch.arange(self.cache.shape[4], device=x.device) <= place
        for k in range(len(self.qkv)):
            q, key, value = self.qkv[k](self.norms[2 * k](x)).view(1, 1, 3, 16, -1).permute(2, 0, 3, 1, 4)
            self.cache[k, 0].index_copy_(2, place, key)
            self.cache[k, 1].index_copy_(2, place, value)
            y = F.scaled_dot_product_attention(q, self.cache[k, 0], self.cache[k, 1], attn_mask=mask[None, None, None])
            x = x + self.out[k](y.transpose(1, 2).reshape(1, 1, -1))
            x = x + self.down[k](F.silu(self.up[k](self.norms[2 * k + 1](x))))
        return self.head(x[:, -1]).argmax(-1, keepdim=True)


def decode(has: Has) -> Step:
    """A token in a step, which is looked at for the end of the text."""
    run = compiled(Decoder().to(DEVICE).to(torch.bfloat16).eval(), has)
    token, place = [numbers(32000, 1, 1)], torch.zeros(1, dtype=torch.long, device=DEVICE)

    def step() -> object:
        with torch.no_grad():
            place.add_(1).remainder_(1024)
            token[0] = run(token[0], place).clone()
            return token[0] if has("no item") else token[0].item() == 2

    return step


class Residual(nn.Module):
    """A block of a ResNet."""

    def __init__(self, width: int, out: int, stride: int):
        super().__init__()
        self.a = nn.Conv2d(width, out, 3, stride, 1, bias=False)
        self.b = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.n, self.m = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
        self.skip = nn.Conv2d(width, out, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.m(self.b(F.relu(self.n(self.a(x))))) + self.skip(x))


def resnet() -> nn.Module:
    widths = (64, 64, 128, 256, 512)
    blocks = [Residual(a, b, 2 if b > 64 else 1) for a, b in itertools.pairwise(widths)]
    stem = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 100))


def images(has: Has) -> Step:
    """Convolutions in bfloat16 in the layout of torch."""
    model, x, truth = resnet(), made(64, 3, 224, 224), numbers(100, 64)
    if has("channels last"):
        model, x = model.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    return trained(model, lambda y: F.cross_entropy(y, truth), or_also(has, "bfloat16"), x, optimizer=torch.optim.Adam)


class Messages(nn.Module):
    """Rounds of messages along edges."""

    def __init__(self, width: int = 128):
        super().__init__()
        self.edge = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(4))
        self.node = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(4))
        self.out = nn.Linear(width, 1)

    def forward(self, x: Tensor, source: Tensor, target: Tensor) -> Tensor:
        for edge, node in zip(self.edge, self.node, strict=True):
            sent = F.silu(edge(torch.cat([x[source], x[target]], 1)))
            x = x + node(torch.cat([x, torch.zeros_like(x).index_add(0, target, sent)], 1))
        return self.out(x)


def graph_network(has: Has) -> Step:
    inputs = made(20000, 128), numbers(20000, 200000), numbers(20000, 200000)
    return trained(Messages(), lambda y: y.square().mean(), has, *inputs, optimizer=torch.optim.Adam)


class Denoiser(nn.Module):
    """A small U-Net that knows the time."""

    def __init__(self, c: int = 64):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(1, c), nn.SiLU(), nn.Linear(c, 2 * c))
        self.a, self.b = nn.Conv2d(4, c, 3, padding=1), nn.Conv2d(c, 2 * c, 3, 2, 1)
        self.middle = nn.ModuleList(nn.Conv2d(2 * c, 2 * c, 3, padding=1) for _ in range(4))
        self.norms = nn.ModuleList(nn.GroupNorm(8, 2 * c) for _ in range(4))
        self.out = nn.Conv2d(3 * c, 4, 3, padding=1)

    def forward(self, x: Tensor, when: Tensor) -> Tensor:
        a = F.silu(self.a(x))
        b = self.b(a) + self.time(when)[:, :, None, None]
        for conv, norm in zip(self.middle, self.norms, strict=True):
            b = b + F.silu(norm(conv(b)))
        return self.out(torch.cat([a, F.interpolate(b, scale_factor=2)], 1))


def sampler(has: Has) -> Step:
    """Ten steps of denoising, whose updates are written outside of the compiled model."""
    model, x, times = Denoiser().to(DEVICE).to(torch.bfloat16), made(2, 4, 64, 64, dtype=torch.bfloat16), made(10, 1, 1)
    if has("channels last"):
        model, x = model.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)

    def one(x: Tensor, when: Tensor) -> Tensor:
        noise = run(x, when)
        return (x - 0.1 * noise / (noise.std() + 1e-5)).clamp(-4, 4) * 0.99

    run = model if has("whole step") else compiled(model, has)
    function = compiled(one, has) if has("whole step") else one

    def step() -> Tensor:
        with torch.no_grad():
            y = x
            for when in times.to(torch.bfloat16):
                y = function(y, when.expand(2, 1)).clone()
            return y

    return step


class Pictures(Dataset):
    """Pictures that are made and changed one by one on the CPU."""

    def __len__(self) -> int:
        return 10**7

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        x = torch.randn(3, 96, 96, generator=torch.Generator().manual_seed(index))
        x = F.avg_pool2d(F.pad(x, (2, 2, 2, 2)), 5, 1).flip(-1)
        return (x - x.mean()) / (x.std() + 1e-5), index % 100


def loaded(has: Has) -> Step:
    """Its input comes from a DataLoader without workers."""
    batches = iter(
        DataLoader(
            Pictures(), 32, num_workers=6 if has("workers") else 0, prefetch_factor=4 if has("workers") else None
        )
    )
    model = resnet().to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=has("fused"))
    run = compiled(model, has)

    def step() -> Tensor:
        x, truth = next(batches)
        loss = F.cross_entropy(run(x.to(DEVICE)), truth.to(DEVICE))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return step


def sent(has: Has) -> Step:
    """Large batches in memory that is not pinned, sent in each step."""
    batches = [torch.randn(4096, 8192) for _ in range(3)]
    if has("pinned"):
        batches = [batch.pin_memory() for batch in batches]
    run = compiled(
        nn.Sequential(nn.Linear(8192, 1024), nn.GELU(), nn.Linear(1024, 16)).to(DEVICE).to(torch.bfloat16), has
    )
    turns = itertools.cycle(batches)

    def step() -> Tensor:
        with torch.no_grad():
            return run(next(turns).to(DEVICE, non_blocking=has("pinned")).to(torch.bfloat16))

    return step


class Experts(nn.Module):
    """Each token goes to one expert; which tokens, the host asks for."""

    def __init__(self, is_dense: bool, width: int = 512, count: int = 8):
        super().__init__()
        self.is_dense, self.gate = is_dense, nn.Linear(width, count)
        self.up = nn.Parameter(0.02 * torch.randn(count, width, 2 * width))
        self.down = nn.Parameter(0.02 * torch.randn(count, 2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        chosen = self.gate(x).argmax(-1)
        if self.is_dense:
            every = torch.bmm(F.gelu(torch.bmm(x.expand(len(self.up), *x.shape), self.up)), self.down)
            return every.gather(0, chosen[None, :, None].expand(1, *x.shape))[0]
        y = torch.zeros_like(x)
        for k in range(len(self.up)):
            rows = (chosen == k).nonzero().squeeze(1)
            y = y.index_copy(0, rows, F.gelu(x[rows] @ self.up[k]) @ self.down[k])
        return y


def experts(has: Has) -> Step:
    model = nn.Sequential(*(Experts(has("dense")) for _ in range(3)))
    return inferred(model.to(torch.bfloat16), has, made(512, 512, dtype=torch.bfloat16))


def averaged(has: Has) -> Step:
    """The average of the weights is kept by a Python loop behind each step."""
    model = Transformer(2000, 256, 8, 6, is_fused=True)
    ids = numbers(2000, 8, 128)
    loss = lambda y: F.cross_entropy(y.flatten(0, 1), ids.flatten())  # noqa: E731
    step = trained(model, loss, or_also(has, "fused", "bfloat16"), ids)
    weights = [p.detach() for p in model.parameters()]
    mean = [p.clone() for p in weights]

    def with_mean() -> None:
        step()
        with torch.no_grad():
            if has("foreach"):
                torch._foreach_lerp_(mean, weights, 0.001)
                return
            for old, new in zip(mean, weights, strict=True):
                old.mul_(0.999).add_(new, alpha=0.001)

    return with_mean


def metrics(has: Has) -> Step:
    """Losses, norms and hits are read in each step, for a log."""
    model, x, truth = (
        nn.Sequential(*(nn.Sequential(nn.Linear(512, 512), nn.GELU()) for _ in range(8)), nn.Linear(512, 10)),
        made(512, 512),
        numbers(10, 512),
    )
    model = model.to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    run, log = compiled(model, has), []

    def step() -> None:
        y = run(x)
        loss = F.cross_entropy(y, truth)
        loss.backward()
        norms = [p.grad.norm() for p in model.parameters()]
        hits = (y.argmax(-1) == truth).float().mean()
        if not has("no item"):
            log.append((loss.item(), hits.item(), [norm.item() for norm in norms]))
        optimizer.step()
        optimizer.zero_grad()

    return step


def doubles(has: Has) -> Step:
    """A field that is computed in float64, as it came from NumPy."""
    dtype = torch.float32 if has("float32") else torch.float64
    field, grid = made(2048, 2048, dtype=dtype), torch.linspace(0, 1, 2048, dtype=dtype, device=DEVICE)

    def one(u: Tensor) -> Tensor:
        near = (u.roll(1, 0) + u.roll(-1, 0) + u.roll(1, 1) + u.roll(-1, 1) - 4 * u) * 0.1
        return u + near + 1e-3 * torch.sin(u) * torch.exp(-grid * grid) - 1e-3 * torch.tanh(u) ** 3

    run, state = compiled(one, has), [field]

    def step() -> Tensor:
        state[0] = run(state[0]).clone() if has("reduce-overhead") else run(state[0])
        return state[0]

    return step


class Annealed(nn.Module):
    """The number of the step is an attribute that the forward reads."""

    def __init__(self, is_tensor: bool):
        super().__init__()
        self.layers = nn.Sequential(
            *(nn.Sequential(nn.Linear(256, 256), nn.LayerNorm(256), nn.GELU()) for _ in range(6))
        )
        self.count: object = 0
        if is_tensor:
            del self.count
            self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x) * (0.999**self.count)


def annealed(has: Has) -> Step:
    model = Annealed(has("tensor")).to(DEVICE)
    run, x = compiled(model, has), made(256, 256)

    def step() -> Tensor:
        with torch.no_grad():
            model.count += 1
            return run(x)

    return step


class Recurrent(nn.Module):
    """cuDNN's LSTM and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(64, 512, 2, batch_first=True), nn.Linear(512, 64)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(F.layer_norm(self.lstm(x)[0], (512,)))


def series(has: Has) -> Step:
    x = made(64, 200, 64)
    return trained(Recurrent(), lambda y: (y[:, :-1] - x[:, 1:]).square().mean(), has, x)


def updates(has: Has) -> Step:
    """Small batches of an actor and a critic."""
    model = nn.Sequential(*(nn.Sequential(nn.Linear(128, 128), nn.Tanh()) for _ in range(6)), nn.Linear(128, 9))
    return trained(
        model,
        lambda y: y[:, :8].softmax(-1).log().mean() + y[:, 8].square().mean(),
        has,
        made(64, 128),
        optimizer=torch.optim.Adam,
    )


def scaled(has: Has) -> Step:
    """float16 with a scaler, whose gradients are clipped."""
    model = Transformer(4000, 512, 8, 4, is_fused=True).to(DEVICE)
    ids, optimizer = numbers(4000, 8, 256), torch.optim.AdamW(model.parameters(), 1e-4, fused=has("fused"))
    run, scaler = compiled(model, has), torch.amp.GradScaler(DEVICE, enabled=not has("no scaler"))

    def step() -> None:
        with torch.autocast(DEVICE, torch.bfloat16 if has("no scaler") else torch.float16):
            loss = F.cross_entropy(run(ids).flatten(0, 1).float(), ids.flatten())
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()

    return step


class Waves(nn.Module):
    """Sound: convolutions over time, one of them for places, layers."""

    def __init__(self, width: int = 512):
        super().__init__()
        self.first = nn.ModuleList(nn.Conv1d(1 if k == 0 else width, width, 8, 4, bias=False) for k in range(4))
        self.places = nn.Conv1d(width, width, 64, padding=32, groups=16)
        self.layers = nn.ModuleList(Block(width, 8, is_fused=True) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        for conv in self.first:
            x = F.gelu(conv(x))
        x = (x + F.gelu(self.places(x))[..., : x.shape[-1]]).transpose(1, 2)
        for layer in self.layers:
            x = layer(x)
        return x


def sound(has: Has) -> Step:
    return trained(Waves(), lambda y: y.square().mean(), has, made(8, 1, 48000))


def modulated(has: Has) -> Step:
    """Rows that are normed, scaled and mixed in bfloat16: nothing to gain."""

    def one(x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        return x + F.silu(F.layer_norm(x, (1024,)) * (1 + scale) + shift)

    run = compiled(one, has)
    inputs = [made(65536, 1024, dtype=torch.bfloat16) for _ in range(3)]
    return lambda: run(*inputs)


def particles(has: Has) -> Step:
    """A simulation of few bodies."""
    if has("one thread"):
        torch.set_num_threads(1)

    def one(x: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        between = x[:, None] - x[None]
        force = (between / (between.square().sum(-1, keepdim=True) + 0.1) ** 1.5).sum(1)
        v = 0.99 * v - 0.01 * force
        return x + 0.01 * v, v

    run, state = compiled(one, has), [made(48, 3), made(48, 3)]

    def step() -> None:
        state[:] = run(*state)

    return step


def small_images(has: Has) -> Step:
    """Convolutions on a CPU, a picture at a time."""
    model, x = resnet(), made(1, 3, 128, 128)
    if has("channels last"):
        model, x = model.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    return inferred(model, has, x)


def rows(has: Has) -> Step:
    """Training on tables on a CPU."""
    if has("one thread"):
        torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    return trained(model, lambda y: y.square().mean(), has, made(64, 32))


def texts(has: Has) -> Step:
    """An encoder on a CPU, attention by hand."""
    return inferred(Transformer(1000, 256, 8, 4, is_fused=has("sdpa")), has, numbers(1000, 4, 256))


class Program(NamedTuple):
    """A program, and what is changed in it by hand."""

    made: Callable[[Has], Step]
    changes: dict[str, frozenset[str]]
    """Change → the kinds of findings that name it."""


def kinds(*names: str) -> frozenset[str]:
    return frozenset(names)


FUSED = {"fused": kinds("optimizer")}
GRAPHS = {"reduce-overhead": kinds("launch-bound", "no-cudagraph")}
TF32 = {"tf32": kinds("matmul-precision")}
HALF = {"bfloat16": kinds("half-precision")}
NO_ITEM = {"no item": kinds("synchronisation", "graph-break")}
EAGER = {"eager": kinds("launch-bound")}
LAST = {"channels last": kinds("layout", "layout-changes", "copy")}
SDPA = {"sdpa": kinds("attention")}
THREADS = {"one thread": kinds("launch-bound")}
CHANGES_NUMBERS = ("tf32", "bfloat16", "float32", "no scaler")
"""What is not done for speed alone."""

PROGRAMS: dict[str, dict[str, Program]] = {
    "cuda": {
        "recommender": Program(recommender, TF32 | FUSED | GRAPHS | HALF),
        "encoder": Program(encoder, TF32 | HALF | GRAPHS),
        "language_model": Program(language_model, SDPA | FUSED | GRAPHS),
        "policy": Program(policy, GRAPHS | NO_ITEM | EAGER),
        "decode": Program(decode, GRAPHS | NO_ITEM | EAGER),
        "images": Program(images, LAST | FUSED | GRAPHS),
        "graph_network": Program(graph_network, TF32 | FUSED | GRAPHS | HALF),
        "sampler": Program(sampler, GRAPHS | LAST | {"whole step": kinds("eager", "launch-bound")}),
        "loaded": Program(loaded, {"workers": kinds("input")} | FUSED | GRAPHS),
        "sent": Program(sent, {"pinned": kinds("transfer")} | GRAPHS),
        "experts": Program(experts, {"dense": kinds("graph-break", "synchronisation")}),
        "averaged": Program(averaged, {"foreach": kinds("eager")} | GRAPHS),
        "metrics": Program(metrics, NO_ITEM | GRAPHS | TF32),
        "doubles": Program(doubles, {"float32": kinds("float64")} | GRAPHS),
        "annealed": Program(annealed, {"tensor": kinds("recompile", "recompile-limit")} | EAGER),
        "series": Program(series, FUSED | TF32 | HALF),
        "updates": Program(updates, FUSED | GRAPHS | EAGER),
        "scaled": Program(scaled, {"no scaler": kinds("synchronisation")} | FUSED | GRAPHS),
        "sound": Program(sound, TF32 | FUSED | HALF | GRAPHS),
        "modulated": Program(modulated, GRAPHS),
    },
    "cpu": {
        "particles": Program(particles, THREADS | EAGER),
        "small_images": Program(small_images, LAST | EAGER),
        "rows": Program(rows, THREADS | FUSED | EAGER),
        "texts": Program(texts, SDPA | EAGER),
    },
}


def finished() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def begun(changes: Iterable[str]) -> Step:
    """The program with these changes, compiled anew, warm."""
    torch._dynamo.reset()
    torch.set_float32_matmul_precision("high" if "tf32" in changes else "highest")
    torch.manual_seed(0)
    step = PROGRAMS[DEVICE][NAME].made(frozenset(changes).__contains__)

    def marked() -> object:
        torch.compiler.cudagraph_mark_step_begin()
        return step()

    run = marked if "reduce-overhead" in changes else step
    for _ in range(12):
        run()
    finished()
    return run


def timed(step: Step) -> float:
    """Median seconds of a step, of groups that take a twelfth of the time at least."""
    begin = time.perf_counter()
    step()
    finished()
    count = max(1, int(OWN_SECONDS / 12 / (time.perf_counter() - begin)))
    times = []
    while len(times) < 12:
        begin = time.perf_counter()
        for _ in range(count):
            step()
        finished()
        times.append((time.perf_counter() - begin) / count)
    return statistics.median(times)


def main() -> None:
    """As `sys.argv` says."""
    if sys.argv[3] != "--changes":
        step = begun(())
        for _ in range(int(sys.argv[3])):
            step()
        finished()
        return
    seconds, threads = {}, torch.get_num_threads()
    for change in (AS_IT_IS, *PROGRAMS[DEVICE][NAME].changes, AS_IT_IS):
        torch.set_num_threads(threads)
        try:
            seconds.setdefault(change, []).append(timed(begun(() if change == AS_IT_IS else (change,))))
        except Exception as error:
            print(f"{NAME}, {change}: {type(error).__name__}: {error}", file=sys.stderr)
    print(json.dumps({"name": NAME, "device": DEVICE, "seconds": {key: min(own) for key, own in seconds.items()}}))


if __name__ == "__main__":
    main()
