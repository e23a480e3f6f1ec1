"""Programs whose references are hard to run: transforms of torch.func, custom operators, nested graphs.

The functions that are named as arguments are called once, compiled.
"""

import sys
from typing import Any

import torch
from torch._higher_order_ops.scan import scan

torch._dynamo.config.capture_scalar_outputs = True
calls = 0


@torch.library.custom_op("references::roll_into", mutates_args=("target",))
def roll_into(source: torch.Tensor, target: torch.Tensor) -> None:
    for at in range(source.shape[0]):
        target[(at + 1) % source.shape[0]] = source[at]


@torch.library.custom_op("references::both", mutates_args=("first", "second"))
def both(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    first.mul_(2)
    second.add_(first)
    return first + second


@both.register_fake
def _(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(first)


@torch.library.custom_op("references::bump", mutates_args=("first", "second"))
def bump(first: torch.Tensor, second: torch.Tensor) -> None:
    first.add_(1)
    second.add_(2)


@torch.library.custom_op("references::add_into", mutates_args=("target",))
def add_into(first: torch.Tensor, second: torch.Tensor, target: torch.Tensor) -> None:
    target.copy_(first + second + 2)


class Clipped(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x.exp()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return gradient * ctx.saved_tensors[0].clamp(max=1)

    @staticmethod
    def jvp(ctx: Any, tangent: torch.Tensor) -> Any:
        return tangent * ctx.saved_tensors[0].clamp(max=1)


@torch.compiler.allow_in_graph  # type: ignore[untyped-decorator]
def by_gradient(x: torch.Tensor) -> torch.Tensor:
    return x * (2 if x.requires_grad else 3)


@torch.compiler.allow_in_graph  # type: ignore[untyped-decorator]
def by_turn(x: torch.Tensor) -> torch.Tensor:
    """Eager and the compiled code give the same; Dynamo's graph, once it runs again, does not."""
    global calls
    calls += type(x) is torch.Tensor
    return x * (2 if calls <= 1 else 3)


@torch.compiler.nested_compile_region
def region(x: torch.Tensor) -> torch.Tensor:
    return (x @ x).sin() + x.exp()


def gradient(x: torch.Tensor) -> Any:
    def changed(x: torch.Tensor) -> Any:
        y = torch.zeros_like(x)
        y[:, 0] += x[:, 2].abs()
        return y.sum()

    return torch.func.grad(changed)(x)


def product(x: torch.Tensor) -> Any:
    pulled: Any = torch.func.vjp(lambda x: x.sin() * 2, x)
    return pulled[0], pulled[1](x)[0], torch.func.jvp(torch.cos, (x,), (x,))[1]


def operators(x: torch.Tensor) -> Any:
    y, z = x.sin(), x.cos()
    roll_into(z, y)
    return both(y, z) / 3, y * 2, z


def filled(x: torch.Tensor) -> Any:
    first, second = torch.empty_like(x), torch.empty(4, 4)
    roll_into(x, first)
    second[:2], second[2:] = x[:2], x[2:] * 2
    return first * 2, second.sin()


def scanned(x: torch.Tensor) -> Any:
    last, rows = scan(lambda last, row: ((last * 0.9 + row).sin(), last.exp() + row), torch.zeros(4), x)
    return last, rows * 2


def repeated(x: torch.Tensor) -> Any:
    return region(region(x)) / 3


def trained(x: torch.Tensor) -> Any:
    return by_gradient(x.requires_grad_()).sin()


def turned(x: torch.Tensor) -> Any:
    return by_turn(x) + 1


def rolled(x: torch.Tensor) -> Any:
    y = x.clone()
    roll_into(y, x)
    return x * 2


def clipped(x: torch.Tensor) -> Any:
    return torch.func.grad(lambda x: Clipped.apply(x).sum())(x)  # type: ignore[no-untyped-call]


def pushed(x: torch.Tensor) -> Any:
    return torch.func.jvp(Clipped.apply, (x,), (torch.ones_like(x),))[1]


def mapped(x: torch.Tensor) -> Any:
    return torch.func.vmap(lambda row: Clipped.apply(row) * 2)(x)  # type: ignore[no-untyped-call]


def bumped(first: torch.Tensor, second: torch.Tensor, target: torch.Tensor) -> Any:
    bump(first, second)
    add_into(first[0:2], second[0:2], target)
    return target


def number(x: torch.Tensor) -> Any:
    return x * 2, x.half().mean().item()


def shifted(x: torch.Tensor) -> Any:
    x[1:] = x[:-1].clone()
    return x


def floored(x: torch.Tensor, width: torch.Tensor) -> Any:
    return x // width


def added(x: torch.Tensor) -> Any:
    """Its backward returns what it is given: it has no operation."""
    return x + 1


def given(name: str) -> tuple[torch.Tensor, ...]:
    x = torch.linspace(-0.5, 1.0, 16).view(4, 4)
    if name == "added":
        return (x.clone().requires_grad_(),)
    if name == "shifted":  # longer than what a processor reads at once
        return (torch.linspace(-0.5, 1.0, 128).view(32, 4),)
    if name == "bumped":
        return x[0], x[1], torch.zeros(2)
    return (torch.tensor([1.0, 0.5, 6.0]), torch.tensor([0.1, 0.1, 0.2])) if name == "floored" else (x,)


if __name__ == "__main__":
    wrong = "--wrong" in sys.argv

    def edit(graph: torch.fx.Graph) -> None:
        for node in graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default):
            node.target = torch.ops.aten.cos.default

    torch._inductor.config.post_grad_custom_pre_pass = edit if wrong else None
    for name in [word for word in sys.argv[1:] if not word.startswith("--")]:
        found = torch.compile(globals()[name])(*given(name))  # type: ignore[no-untyped-call]
        if name == "added":
            found.sum().backward()
        print(name)
