"""A small net or function in plain torch, of a family that transformers has not: `inference`, or one step of `training`."""

import sys

import torch
import torch.nn.functional as F
from torch import Tensor, nn

CHANNELS, PIXELS, NODES, EDGES = 16, 16, 12, 40


class Block(nn.Module):
    def __init__(self, given: int, made: int) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(given, made, 3, padding=1), nn.Conv2d(made, made, 3, padding=1)
        self.norm = nn.GroupNorm(4, made)
        self.skip = nn.Conv2d(given, made, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.skip(x) + self.second(F.silu(self.norm(self.first(x))))


class UNet(nn.Module):
    """Down, attention at the bottom, up beside what was kept on the way down."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.bottom = Block(3, CHANNELS), Block(CHANNELS, 2 * CHANNELS)
        self.shrink = nn.Conv2d(CHANNELS, CHANNELS, 3, stride=2, padding=1)
        self.qkv = nn.Conv2d(2 * CHANNELS, 6 * CHANNELS, 1)
        self.grow = nn.ConvTranspose2d(2 * CHANNELS, CHANNELS, 2, stride=2)
        self.up, self.last = Block(2 * CHANNELS, CHANNELS), nn.Conv2d(CHANNELS, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept = self.down(x)
        low = self.bottom(self.shrink(kept))
        q, k, v = self.qkv(low).flatten(2).transpose(1, 2).unsqueeze(1).chunk(3, -1)
        seen = F.scaled_dot_product_attention(q, k, v).squeeze(1).transpose(1, 2).reshape(low.shape)
        grown = F.interpolate(low + seen, scale_factor=1.0) if self.training else low + seen
        return self.last(self.up(torch.cat((self.grow(grown), kept), 1)))


class Graph(nn.Module):
    """Messages along edges, added up where they arrive; some nodes are written over."""

    def __init__(self) -> None:
        super().__init__()
        self.given, self.message, self.made = nn.Linear(8, 16), nn.Linear(32, 16), nn.Linear(16, 4)

    def forward(self, x: Tensor, edges: Tensor, marked: Tensor) -> Tensor:
        h = self.given(x)
        h[marked] = 0.5
        source, target = edges
        sent = F.relu(self.message(torch.cat((h[source], h[target]), -1)))
        got = torch.zeros_like(h).index_add(0, target, sent)
        most = torch.full_like(h, -1.0).scatter_reduce(0, target[:, None].expand_as(sent), sent, "amax")
        h = h + got + most
        h = h.index_copy(0, marked, got[marked])
        return self.made(h).log_softmax(-1)


class Int8(nn.Module):
    """A linear layer with int8 weights and inputs that are quantized on the way."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 127, (32, 64), dtype=torch.int8))
        self.scale = nn.Parameter(torch.rand(32) / 100)

    def forward(self, x: Tensor) -> Tensor:
        step = x.abs().amax(-1, keepdim=True) / 127
        rounded = (x / step).round().clamp(-127, 127).to(torch.int8)
        return torch._int_mm(rounded, self.weight.t()).float() * step.detach() * self.scale


class Spectral(nn.Module):
    """A Fourier layer: what is filtered is the spectrum."""

    def __init__(self) -> None:
        super().__init__()
        self.filter = nn.Parameter(torch.randn(CHANNELS, PIXELS, PIXELS // 2 + 1) / 10)

    def forward(self, x: Tensor) -> Tensor:
        spectrum = torch.fft.rfft2(x) * self.filter
        return F.gelu(torch.fft.irfft2(spectrum, s=x.shape[-2:])) + torch.fft.fftn(x).real


class Control(nn.Module):
    """A branch, and a loop where nothing is learnt."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.cond(x.sum() > 0, lambda x: self.one(x).relu(), lambda x: self.other(x).tanh(), (x,))
        if not self.training:
            _, x = torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x.sin() + 1), (torch.tensor(0), x))
        return x * 2


class Sorted(nn.Module):
    """Sorting, pooling, scanning and linear algebra."""

    def __init__(self) -> None:
        super().__init__()
        self.made = nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        h = self.made(x)
        top, where = h.topk(4, -1)
        ordered = h.sort(-1).values.cumsum(-1)
        pooled = F.max_pool1d(ordered.unsqueeze(1), 2).squeeze(1)
        square = h.t() @ h + 16 * torch.eye(16, device=x.device)
        solved = torch.linalg.solve(square, h.t())
        return pooled.sum() + (top * where.float()).sum() + solved.sum() + torch.linalg.cholesky(square).sum()


class Jagged(nn.Module):
    """Sequences of several lengths in one nested tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.made = nn.Linear(8, 8)

    def forward(self, nested: Tensor) -> Tensor:
        return F.layer_norm(F.gelu(self.made(nested)), (8,)) * 2


def inputs(name: str) -> tuple[Tensor, ...]:
    if name == "unet":
        return (torch.randn(2, 3, PIXELS, PIXELS),)
    if name == "gnn":
        return torch.randn(NODES, 8), torch.randint(0, NODES, (2, EDGES)), torch.tensor([1, 5, 7])
    if name == "int8":
        return (torch.randn(20, 64),)
    if name == "fft":
        return (torch.randn(2, CHANNELS, PIXELS, PIXELS),)
    if name == "jagged":
        return (torch.nested.nested_tensor([torch.randn(length, 8) for length in (3, 4, 5)], layout=torch.jagged),)
    return (torch.randn(20, 16),)


def plain(found: Tensor) -> Tensor:
    """What a nested tensor holds; any other is as it is."""
    return found.values() if found.is_nested else found


MODELS = {"unet": UNet, "gnn": Graph, "int8": Int8, "fft": Spectral, "control": Control, "sorted": Sorted}
MODELS["jagged"] = Jagged

name, kind = sys.argv[1:]
torch.manual_seed(0)
if name == "adamw":
    model = nn.Sequential(nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, foreach=True)
    model(torch.randn(8, 16)).square().mean().backward()
    torch.compile(optimizer.step)()
    print(sum(parameter.square().sum() for parameter in model.parameters()))
elif kind == "inference":
    model = MODELS[name]().eval()
    with torch.no_grad():
        print(plain(torch.compile(model)(*inputs(name))).square().mean())
else:
    model = MODELS[name]().train()
    plain(torch.compile(model)(*inputs(name))).square().mean().backward()
    print(sum(parameter.grad.square().sum() for parameter in model.parameters() if parameter.grad is not None))
