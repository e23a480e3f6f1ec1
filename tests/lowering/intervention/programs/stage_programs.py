"""Small programs for mistakes above the kernels: inputs that are changed in place, results that share memory, custom
operators, `torch.func`, higher-order operators, and float32 within bfloat16.

Each is a function that takes what compiles a function, and returns all that its calls leave behind: results, inputs,
parameters, buffers and gradients.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as over_rows
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.nn.attention.flex_attention import flex_attention
from torch.utils.checkpoint import checkpoint

Compile = Callable[[Any], Any]
Left = list[Tensor]


def counted(compiled: Compile) -> Left:
    """Two inputs are changed, and read before and after that."""

    @compiled
    def run(x: Tensor, total: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        before = total * 3 - x
        total.add_(x.exp())
        seen.mul_(0.9).add_(x.sin(), alpha=0.1)
        return before, total.tanh() - seen

    x, total, seen = torch.randn(4, 8), torch.randn(4, 8), torch.randn(4, 8)
    return [*run(x, total, seen), x, total, seen]


def normed(compiled: Compile) -> Left:
    """Buffers of a module are changed in a training step."""

    class Norm(nn.Module):
        mean: Tensor
        count: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.rand(8) + 0.5)
            self.register_buffer("mean", torch.randn(8))
            self.register_buffer("count", torch.zeros(8))

        def forward(self, x: Tensor) -> Tensor:
            centred = x - self.mean
            with torch.no_grad():
                self.mean.lerp_(x.mean(0), 0.25)
                self.count.add_(1.5)
            return F.silu(x * self.weight) * 2 - centred - self.mean

    norm, x = Norm(), torch.randn(6, 8, requires_grad=True)
    result = compiled(norm)(x)
    result.square().mean().backward()
    return [result.detach(), norm.mean, norm.count, _grad(norm.weight), _grad(x)]


def stepped(compiled: Compile) -> Left:
    """Two steps of Adam change parameters and states."""

    @compiled
    def run(p: Tensor, g: Tensor, m: Tensor, v: Tensor, t: Tensor) -> Tensor:
        for _ in range(2):
            t.add_(1)
            m.lerp_(g, 0.1)
            v.mul_(0.99).addcmul_(g, g, value=0.01)
            update = m / (1 - 0.9**t) / ((v / (1 - 0.99**t)).sqrt() + 1e-3)
            p.sub_(update, alpha=0.05)
            g = g - p * 0.1
        return g.abs().sum(-1)

    p, g, m = (torch.randn(5, 8) for _ in range(3))
    v, t = torch.rand(5, 8), torch.tensor(3.0)
    return [run(p, g, m, v, t), p, g, m, v, t]


def cached(compiled: Compile) -> Left:
    """Two steps of an attention write keys and values into a cache."""

    @compiled
    def run(q: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
        found = []
        for turn in range(2):
            keys.index_copy_(1, at + turn, k * (1.0 + turn))
            values.index_copy_(1, at + turn, v - q)
            scores = (q @ keys.transpose(-1, -2)) * 0.25
            found.append(torch.softmax(scores, -1) @ values)
        return found[0], found[1]

    q, k, v = (torch.randn(2, 1, 8) for _ in range(3))
    keys, values = torch.randn(2, 6, 8), torch.randn(2, 6, 8)
    return [*run(q, k, v, keys, values, torch.tensor([3])), q, keys, values]


def pushed(compiled: Compile) -> Left:
    """What was there is kept before it is changed."""

    @compiled
    def run(history: Tensor, now: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
        old = now.clone()
        history.copy_(now + other * 2)
        now.mul_(10)
        other[:, 1:3] = now[:, :2].cos()
        return old - other, now + 1

    history, now, other = (torch.randn(4, 8) for _ in range(3))
    return [*run(history, now, other), history, now, other]


class _Counting(torch.autograd.Function):
    """Its backward changes a tensor."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, seen: Tensor) -> Tensor:
        ctx.save_for_backward(x, seen)
        return x.sin()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        x, seen = ctx.saved_tensors
        seen.add_(grads[0] * 2)
        return grads[0] * x.cos(), None


def backward_writes(compiled: Compile) -> Left:
    @compiled
    def run(x: Tensor, seen: Tensor) -> Tensor:
        result: Tensor = _Counting.apply(x * 1.5, seen)  # type: ignore[no-untyped-call]
        return result * 3

    x, seen = torch.randn(4, 8, requires_grad=True), torch.zeros(4, 8)
    result = run(x, seen)
    result.square().sum().backward()
    return [result.detach(), seen, _grad(x)]


def copies(compiled: Compile) -> Left:
    """Results that are copies of inputs, of which one is changed afterwards."""

    @compiled
    def run(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        kept = x.clone()
        x.add_(1)
        other = y.clone()
        rows = other[1:3] + 0.5
        other.mul_(0.5)
        return kept, other, rows, x * 2 - y, y.clone().t()

    x, y = torch.randn(4, 4), torch.randn(4, 4)
    return [*run(x, y), x, y]


def viewed(compiled: Compile) -> Left:
    """Results that are views of an input, of each other, and none."""

    @compiled
    def run(x: Tensor, row: Tensor) -> tuple[Tensor, ...]:
        z = (x - row).exp()
        x[:, 1] = row[:, 0] * 2
        return z, z.view(-1), x[:, 1], x.t(), z.sum(0).expand(3, 4), x.t().clone(), z.chunk(2, 1)[1] + 0.5

    x, row = torch.randn(4, 4), torch.randn(4, 4)
    return [*run(x, row), x, row]


def in_parts(compiled: Compile) -> Left:
    """Parts of a new tensor and of an input are written one after the other."""

    @compiled
    def run(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        out = torch.zeros_like(x)
        out[:2] = x[2:] - y[:2]
        out[2:].copy_(y[2:] * 0.75)
        y[:, ::2].sub_(x[:, ::2])
        return out, y[:, 1].clone()

    x, y = torch.randn(4, 8), torch.randn(4, 8)
    return [*run(x, y), x, y]


@torch.library.custom_op("planted::scaled", mutates_args=())
def scaled(x: Tensor, y: Tensor, alpha: float) -> Tensor:
    return x * alpha - y


@scaled.register_fake
def _(x: Tensor, y: Tensor, alpha: float) -> Tensor:
    return torch.empty_like(x)


def _scaled_setup(ctx: Any, inputs: Any, output: Tensor) -> None:
    ctx.alpha = inputs[2]


def _scaled_backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
    return grad * ctx.alpha, -grad, None


scaled.register_autograd(_scaled_backward, setup_context=_scaled_setup)


@torch.library.custom_op("planted::accumulate", mutates_args=("total",))
def accumulate(total: Tensor, x: Tensor, alpha: float) -> None:
    total.add_(x, alpha=alpha)


@accumulate.register_fake
def _(total: Tensor, x: Tensor, alpha: float) -> None:
    return None


@torch.library.custom_op("planted::exchange", mutates_args=("x", "y"))
def exchange(x: Tensor, y: Tensor, by: float) -> Tensor:
    kept = x * by
    x.copy_(y)
    y.copy_(kept)
    return kept - x


@exchange.register_fake
def _(x: Tensor, y: Tensor, by: float) -> Tensor:
    return torch.empty_like(x)


def plain_operator(compiled: Compile) -> Left:
    @compiled
    def run(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        first = scaled(x.sin(), y.exp(), 1.5)
        return scaled(first, x, 0.75).tanh(), first - y

    x, y = torch.randn(4, 8), torch.randn(4, 8)
    return [*run(x, y), x, y]


def trained_operator(compiled: Compile) -> Left:
    @compiled
    def run(x: Tensor, w: Tensor) -> Tensor:
        found: Tensor = scaled((x @ w).tanh(), x * 0.5, 1.25).square().mean()
        return found

    x, w = torch.randn(8, 8, requires_grad=True), torch.randn(8, 8, requires_grad=True)
    loss = run(x, w)
    loss.backward()
    return [loss.detach(), _grad(x), _grad(w)]


def changing_operator(compiled: Compile) -> Left:
    """An operator changes a copy, an input, and what is returned."""

    @compiled
    def run(x: Tensor, y: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
        kept = x.clone()
        accumulate(kept, y, 2.5)
        accumulate(total, kept.sin(), 0.5)
        return kept, total * x - y

    x, y, total = (torch.randn(4, 8) for _ in range(3))
    return [*run(x, y, total), x, y, total]


def exchanging_operator(compiled: Compile) -> Left:
    """An operator changes two tensors and returns a third."""

    @compiled
    def run(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        one, other = x * 2, y.clone()
        found = exchange(one, other, 1.5)
        accumulate(x, one - other, 0.25)
        return found.cos(), other - one

    x, y = torch.randn(4, 8), torch.randn(4, 8)
    return [*run(x, y), x, y]


def functional(compiled: Compile) -> Left:
    """Gradients of each sample, and their sum."""

    def loss(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return ((x @ w).tanh() - y).square().mean()

    @compiled
    def run(w: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(w, x, y)
        return each * 0.5 - w, torch.func.grad(loss)(w, x[0], y[0]).exp()

    return [*run(torch.randn(8), torch.randn(5, 8), torch.randn(5))]


def forward_mode(compiled: Compile) -> Left:
    @compiled
    def run(x: Tensor, t: Tensor) -> tuple[Tensor, ...]:
        def function(one: Tensor) -> Tensor:
            return (one * 1.5).sin() * one.exp()

        found: Any = torch.func.jvp(function, (x,), (t,))
        value, tangent = found
        return value - t, tangent * 0.25, torch.func.jacrev(function)(x[0])

    return [*run(torch.randn(3, 4), torch.randn(3, 4))]


def mapped(compiled: Compile) -> Left:
    """vmap with an input that is changed outside."""

    @compiled
    def run(x: Tensor, w: Tensor, seen: Tensor) -> Tensor:
        found: Tensor = torch.func.vmap(lambda row: torch.softmax(w @ row - row, 0) * 2.5)(x)
        seen.add_(found.detach().sum(0), alpha=0.5)
        return found.cos()

    x, w, seen = torch.randn(4, 6), torch.randn(6, 6), torch.randn(6)
    return [run(x, w, seen), seen]


def branches(compiled: Compile) -> Left:
    @compiled
    def run(x: Tensor, y: Tensor) -> Tensor:
        chosen: Tensor = torch.cond(
            (x * x).sum() > 0, lambda a, b: (a * 1.5).sin() - b, lambda a, b: b.exp() - a * 2.0, (x, y)
        )
        return chosen.tanh() * 0.75

    return [run(torch.randn(4, 8), torch.randn(4, 8))]


def loop(compiled: Compile) -> Left:
    def is_open(turn: Tensor, one: Tensor, other: Tensor) -> Tensor:
        return turn < 5

    def body(turn: Tensor, one: Tensor, other: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return turn + 1, (one * 0.9 + 0.5).tanh(), other - one * 0.25

    @compiled
    def run(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        _, one, other = while_loop(is_open, body, (torch.tensor(0), x.sin(), y * 2))  # type: ignore[no-untyped-call]
        return one.exp(), other - x

    return [*run(torch.randn(4, 8), torch.randn(4, 8))]


def scanned(compiled: Compile) -> Left:
    @compiled
    def run(start: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        def step(state: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
            new = (state * 0.5 - row).tanh()
            return new, new * 2 - row

        last, each = scan(step, start, rows.exp())
        return last * 3, each.sin()

    return [*run(torch.randn(8), torch.randn(5, 8))]


def over(compiled: Compile) -> Left:
    @compiled
    def run(rows: Tensor, w: Tensor) -> Tensor:
        def one(row: Tensor, by: Tensor) -> Tensor:
            return (row * 1.5 - by).sin()

        found: Tensor = over_rows(one, rows, w)  # type: ignore[arg-type]
        return found.exp() - 0.5

    return [run(torch.randn(5, 8), torch.randn(8))]


def summed(compiled: Compile) -> Left:
    @compiled
    def run(x: Tensor) -> Tensor:
        found: Tensor = associative_scan(lambda a, b: a * 0.5 + b, x.sin(), 0, combine_mode="generic")
        return found * 2 - x

    return [run(torch.randn(6, 8))]


@torch.compiler.nested_compile_region
def _region(x: Tensor, w: Tensor) -> Tensor:
    found: Tensor = (x @ w).relu() * 1.25 - x
    return found


def regions(compiled: Compile) -> Left:
    @compiled
    def run(x: Tensor, w: Tensor) -> Tensor:
        found: Tensor = _region(_region(x, w.tanh()) * 0.1, w.tanh()).softmax(-1)
        return found

    return [run(torch.randn(8, 8), torch.randn(8, 8))]


def flexible(compiled: Compile) -> Left:
    @compiled
    def run(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
        def score(found: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
            return found * 1.5 - bias[h] * (i - j)

        result: Tensor = flex_attention((q * 1.5).tanh(), k, v, score_mod=score)
        return result

    q, k, v = (torch.randn(1, 2, 32, 16) for _ in range(3))
    return [run(q, k, v, torch.rand(2))]


def recomputed(compiled: Compile) -> Left:
    def block(x: Tensor, w: Tensor) -> Tensor:
        return ((x @ w).tanh() * 1.5 - x).sin()

    @compiled
    def run(x: Tensor, w: Tensor, seen: Tensor) -> Tensor:
        h: Tensor = checkpoint(block, x, w, use_reentrant=False)
        seen.add_(h.detach().mean(0))
        return F.gelu(h - 0.25).square().mean()

    x, w, seen = torch.randn(8, 8), torch.randn(8, 8, requires_grad=True), torch.randn(8)
    loss = run(x, w, seen)
    loss.backward()
    return [loss.detach(), _grad(w), seen]


def half_norm(compiled: Compile) -> Left:
    """A norm in float32 within bfloat16."""

    @compiled
    def run(x: Tensor, weight: Tensor, residual: Tensor) -> Tensor:
        wide = x.float() + residual.float()
        normed = (wide - wide.mean(-1, keepdim=True)) * torch.rsqrt(wide.var(-1, keepdim=True) + 1e-5)
        return (normed * weight.float()).to(x.dtype)

    x, weight, residual = (torch.randn(16, 64).bfloat16() for _ in range(3))
    return [run(x, weight, residual)]


def half_rotary(compiled: Compile) -> Left:
    """Positions and angles in float32, what they turn in bfloat16."""

    @compiled
    def run(x: Tensor, at: Tensor) -> Tensor:
        rates = 10000.0 ** (-torch.arange(0, 32, 2, dtype=torch.float32) / 32)
        angles = at[:, None].float() * rates
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        one, other = x.chunk(2, -1)
        return torch.cat([one * cos - other * sin, other * cos + one * sin], -1)

    return [run(torch.randn(2, 24, 32).bfloat16(), torch.arange(24) + 400)]


def half_attention(compiled: Compile) -> Left:
    """Scores and their softmax in float32, matrix products in bfloat16; the sums are a changed input in float32."""

    @compiled
    def run(q: Tensor, k: Tensor, v: Tensor, seen: Tensor) -> Tensor:
        scores = (q @ k.transpose(-1, -2)).float() * 0.25
        chances = torch.softmax(scores - scores.amax(-1, keepdim=True), -1)
        seen.add_(chances.sum(0), alpha=0.5)
        return chances.to(v.dtype) @ v

    q, k, v = (torch.randn(4, 16, 16).bfloat16() for _ in range(3))
    seen = torch.zeros(16, 16)
    return [run(q, k, v, seen), seen]


def half_trained(compiled: Compile) -> Left:
    """A step in bfloat16 with a loss in float32."""

    @compiled
    def run(x: Tensor, w: Tensor, y: Tensor) -> Tensor:
        h = (x @ w).float()
        normed = h * torch.rsqrt(h.square().mean(-1, keepdim=True) + 1e-3)
        wide = torch.sigmoid(normed * 1.5)
        return ((wide.to(x.dtype) - y).float() * wide).square().mean()

    x, y = torch.randn(16, 32).bfloat16(), torch.randn(16, 16).bfloat16()
    w = (torch.randn(32, 16) / 4).bfloat16().requires_grad_()
    loss = run(x, w, y)
    loss.backward()
    return [loss.detach(), _grad(w)]


def _grad(tensor: Tensor) -> Tensor:
    assert tensor.grad is not None
    return tensor.grad


class Program(NamedTuple):
    kind: str
    run: Callable[[Compile], Left]


CHANGED: Final = "changed inputs"
ALIASES: Final = "aliases"
OPERATORS: Final = "custom operators"
FUNCTORCH: Final = "functorch"
NESTED: Final = "higher-order operators"
WIDE: Final = "float32 in bfloat16"
PROGRAMS: Final = {
    **{one.__name__: Program(CHANGED, one) for one in (counted, normed, stepped, cached, pushed, backward_writes)},
    **{one.__name__: Program(ALIASES, one) for one in (copies, viewed, in_parts)},
    **{
        one.__name__: Program(OPERATORS, one)
        for one in (plain_operator, trained_operator, changing_operator, exchanging_operator)
    },
    **{one.__name__: Program(FUNCTORCH, one) for one in (functional, forward_mode, mapped)},
    **{
        one.__name__: Program(NESTED, one)
        for one in (branches, loop, scanned, over, summed, regions, flexible, recomputed)
    },
    **{one.__name__: Program(WIDE, one) for one in (half_norm, half_rotary, half_attention, half_trained)},
}
