"""Loops of steps, as people write them, for `tune`: `loops.py NAME cpu|cuda [STEPS]`; prints the median of a step.

Each has torch's defaults, and what is often left out or done: an optimizer that is not fused, a loss that is read in
each step, float32 matrix products, a graph of small kernels, a Python loop around one compiled step.
"""

import statistics
import sys
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

NAME, DEVICE = sys.argv[1], sys.argv[2]
STEPS = int(sys.argv[3]) if len(sys.argv) > 3 else 4000
IS_LARGE = DEVICE == "cuda"
WIDTH = 512 if IS_LARGE else 64
BATCH = 64 if IS_LARGE else 8


def made(*shape: int) -> Tensor:
    return torch.randn(*shape, device=DEVICE)


def numbers(most: int, *shape: int) -> Tensor:
    return torch.randint(0, most, shape, device=DEVICE)


class Encoder(nn.Module):
    """Words, layers of attention, a head."""

    def __init__(self, layers: int = 4):
        super().__init__()
        self.words = nn.Embedding(1000, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, 0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, 1000)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(self.words(x)))


class Decoder(nn.Module):
    """One token at a time against a cache of what was read before."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.head = nn.Embedding(1000, WIDTH), nn.Linear(WIDTH, 1000)
        self.qkv = nn.ModuleList(nn.Linear(WIDTH, 3 * WIDTH) for _ in range(4))
        self.up = nn.ModuleList(nn.Linear(WIDTH, 4 * WIDTH) for _ in range(4))
        self.down = nn.ModuleList(nn.Linear(4 * WIDTH, WIDTH) for _ in range(4))

    def forward(self, token: Tensor, cache: Tensor, place: Tensor) -> Tensor:
        x = self.words(token)
        for layer, (qkv, up, down) in enumerate(zip(self.qkv, self.up, self.down, strict=True)):
            q, k, v = qkv(x).view(BATCH, 1, 3, 4, WIDTH // 4).permute(2, 0, 3, 1, 4)
            cache[layer, 0].index_copy_(2, place, k)
            cache[layer, 1].index_copy_(2, place, v)
            x = x + F.scaled_dot_product_attention(q, cache[layer, 0], cache[layer, 1]).reshape(BATCH, 1, WIDTH)
            x = x + down(F.gelu(up(x)))
        return self.head(x).argmax(-1)


class Unet(nn.Module):
    """A denoiser with one skip."""

    def __init__(self) -> None:
        super().__init__()
        c = 64 if IS_LARGE else 8
        self.a, self.b = nn.Conv2d(3, c, 3, padding=1), nn.Conv2d(c, 2 * c, 3, 2, 1)
        self.c, self.d = nn.Conv2d(2 * c, 2 * c, 3, padding=1), nn.Conv2d(3 * c, 3, 3, padding=1)
        self.n, self.m = nn.GroupNorm(4, c), nn.GroupNorm(4, 2 * c)

    def forward(self, x: Tensor) -> Tensor:
        a = F.silu(self.n(self.a(x)))
        b = F.silu(self.m(self.c(F.silu(self.b(a)))))
        return self.d(torch.cat([a, F.interpolate(b, scale_factor=2)], 1))


class Towers(nn.Module):
    """Two towers over hashed features."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(10000, 32) for _ in range(8))
        self.towers = nn.ModuleList(
            nn.Sequential(nn.Linear(128, WIDTH), nn.BatchNorm1d(WIDTH), nn.ReLU(), nn.Linear(WIDTH, 64)) for _ in "ab"
        )

    def forward(self, x: Tensor) -> Tensor:
        found = [table(x[:, i]) for i, table in enumerate(self.tables)]
        a, b = (tower(torch.cat(found[4 * i : 4 * i + 4], 1)) for i, tower in enumerate(self.towers))
        return F.cross_entropy(F.normalize(a) @ F.normalize(b).T / 0.07, torch.arange(len(x), device=x.device))


class Graph(nn.Module):
    """Three rounds of messages along edges."""

    def __init__(self) -> None:
        super().__init__()
        self.edges = nn.ModuleList(nn.Linear(2 * WIDTH, WIDTH) for _ in range(3))

    def forward(self, x: Tensor, source: Tensor, target: Tensor) -> Tensor:
        for layer in self.edges:
            message = F.relu(layer(torch.cat([x[source], x[target]], 1)))
            x = x + torch.zeros_like(x).index_add_(0, target, message)
        return x


class Policy(nn.Module):
    """A recurrent cell and two heads."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.act, self.value = nn.GRUCell(32, WIDTH), nn.Linear(WIDTH, 6), nn.Linear(WIDTH, 1)

    def forward(self, seen: Tensor, state: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        state = self.cell(seen, state)
        return self.act(state).softmax(-1), self.value(state), state


class Experts(nn.Module):
    """Four experts, each for all tokens, weighted."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(WIDTH, 4)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)) for _ in range(4)
        )

    def forward(self, x: Tensor) -> Tensor:
        return sum(w[:, None] * e(x) for w, e in zip(self.gate(x).softmax(-1).T, self.experts, strict=True))


def perceptron() -> nn.Module:
    return nn.Sequential(
        nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, 10)
    )


def trained(model: nn.Module, kind: type[torch.optim.Optimizer], *inputs: Tensor) -> Callable[[], object]:
    """A step of training, as short as it can be."""
    model = model.to(DEVICE)
    optimizer = kind(model.parameters(), lr=1e-3)
    compiled = torch.compile(model)

    def step() -> None:
        out = compiled(*inputs)
        loss = out if out.dim() == 0 else out.float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def read(model: nn.Module, *inputs: Tensor) -> Callable[[], object]:
    """A step of training whose loss is read each time, for a log."""
    model = model.to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    compiled = torch.compile(model)
    losses: list[float] = []

    def step() -> None:
        loss = compiled(*inputs).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())

    return step


def inferred(model: nn.Module, *inputs: Tensor) -> Callable[[], object]:
    """A call without gradients."""
    compiled = torch.compile(model.to(DEVICE).eval())

    def step() -> None:
        with torch.no_grad():
            compiled(*inputs)

    return step


def particles() -> Callable[[], object]:
    """A simulation of few bodies: one small compiled step, thousands of times."""
    place, speed = made(24, 2), made(24, 2)

    @torch.compile
    def moved(place: Tensor, speed: Tensor) -> tuple[Tensor, Tensor]:
        apart = place[:, None] - place[None]
        speed = speed - 1e-3 * (apart / (apart.square().sum(-1, keepdim=True) + 0.1)).sum(1)
        return place + 1e-2 * speed, speed

    def step() -> None:
        nonlocal place, speed
        place, speed = moved(place, speed)

    return step


def acted() -> Callable[[], object]:
    """A rollout: the state of one step is the input of the next."""
    policy = torch.compile(Policy().to(DEVICE))
    seen, state = made(1, 32), made(1, WIDTH)

    def step() -> None:
        nonlocal state
        with torch.no_grad():
            _, _, state = policy(seen, state.clone())

    return step


def decoded() -> Callable[[], object]:
    """Tokens one by one."""
    model = torch.compile(Decoder().to(DEVICE))
    cache = torch.zeros(4, 2, BATCH, 4, 128, WIDTH // 4, device=DEVICE)
    token, place = numbers(1000, BATCH, 1), torch.zeros(1, dtype=torch.int64, device=DEVICE)

    def step() -> None:
        nonlocal token
        with torch.no_grad():
            token = model(token.clone(), cache, place)
            place.add_(1).remainder_(128)

    return step


def normed() -> Callable[[], object]:
    """Rows of statistics, nothing to multiply."""
    x = made(256 * BATCH, WIDTH)
    compiled = torch.compile(lambda x: F.layer_norm((x - x.mean(0)) / (x.std(0) + 1e-5), (WIDTH,)).softmax(-1))
    return lambda: compiled(x)


PROGRAMS: dict[str, Callable[[], Callable[[], object]]] = {
    "mlp": lambda: trained(perceptron(), torch.optim.AdamW, made(BATCH, WIDTH)),
    "encoder": lambda: trained(Encoder(), torch.optim.AdamW, numbers(1000, BATCH, 64)),
    "encoder_inference": lambda: inferred(Encoder(), numbers(1000, BATCH, 64)),
    "decode": decoded,
    "unet": lambda: trained(Unet(), torch.optim.Adam, made(BATCH // 4, 3, WIDTH // 2, WIDTH // 2)),
    "unet_inference": lambda: inferred(Unet(), made(1, 3, WIDTH // 2, WIDTH // 2)),
    "towers": lambda: trained(Towers(), torch.optim.AdamW, numbers(10000, 16 * BATCH, 8)),
    "graph": lambda: trained(Graph(), torch.optim.SGD, made(500, WIDTH), numbers(500, 4000), numbers(500, 4000)),
    "policy": acted,
    "policy_training": lambda: read(perceptron(), made(BATCH, WIDTH)),
    "experts": lambda: trained(Experts(), torch.optim.Adam, made(4 * BATCH, WIDTH)),
    "particles": particles,
    "statistics": normed,
}


def finished() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


torch.manual_seed(0)
step = PROGRAMS[NAME]()
times = []
for number in range(STEPS):
    if number % 20 == 0:
        finished()
        began = time.perf_counter()
    step()
    if number % 20 == 19:
        finished()
        times.append((time.perf_counter() - began) / 20)
print(f"{NAME}: {1e6 * statistics.median(times[len(times) // 4 :]):.1f} us a step")
