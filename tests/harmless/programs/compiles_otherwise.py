"""Compiles in a way that is rare, as its argument names."""

import importlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch._dynamo

X = torch.ones(4)


def counters() -> None:
    import torch._dynamo.utils

    for name in ("frames", "stats", "graph_break"):
        print(name, sorted(torch._dynamo.utils.counters[name].items()))


def many_recompiles() -> None:
    torch._dynamo.config.recompile_limit = 1000
    torch._dynamo.config.accumulated_recompile_limit = 1000

    @torch.compile(backend="eager", dynamic=False)
    def add(x: torch.Tensor, number: float) -> torch.Tensor:
        return x + number

    for number in range(300):
        add(X, number * 1.5 if number % 2 else number)
    counters()


def the_limit() -> None:
    @torch.compile(backend="eager")
    def add(x: torch.Tensor, text: str) -> torch.Tensor:
        return x + len(text)

    for number in range(20):
        add(X, "a" * number)
    counters()


def the_limit_raises() -> None:
    torch._dynamo.config.fail_on_recompile_limit_hit = True

    @torch.compile(backend="eager", dynamic=False)
    def add(x: torch.Tensor, number: int) -> torch.Tensor:
        return x + number

    try:
        for number in range(20):
            add(X, number)
    except Exception as error:
        print(type(error).__name__)
    counters()


def inner_compile() -> None:
    from torch._inductor import compile_fx

    def mine(graph: Any, *arguments: Any, **named: Any) -> Any:
        print("inner", len(graph.graph.nodes))
        return compile_fx.compile_fx_inner(graph, *arguments, **named)

    def backend(graph: Any, inputs: Any) -> Any:
        return compile_fx.compile_fx(graph, inputs, inner_compile=mine)

    print(torch.compile(lambda x: x.sin() + 1, backend=backend)(X))


def another_backend() -> None:
    def backend(graph: Any, inputs: Any) -> Any:
        print([node.op for node in graph.graph.nodes])
        return graph.forward

    print(torch.compile(lambda x: x.sin() + 1, backend=backend)(X))
    counters()


def reloads() -> None:
    print(torch.compile(lambda x: x.sin() + 1)(X))
    for name in ("torch._inductor.scheduler", "torch._dynamo.guards"):
        try:
            importlib.reload(importlib.import_module(name))
            print(name)
        except Exception as error:
            print(name, type(error).__name__)
    torch._dynamo.reset()
    print(torch.compile(lambda x: x.cos(), backend="aot_eager")(X))


def deep() -> None:
    sys.setrecursionlimit(3000)

    @torch.compile(backend="eager")
    def add(x: torch.Tensor, times: int = 30) -> torch.Tensor:
        return x if times == 0 else add(x + 1, times - 1)

    print(add(X))
    counters()


def conditional() -> None:
    @torch.compile
    def either(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,))

    print(either(X), either(-X))


def own_operator() -> None:
    @torch.library.custom_op("harmless::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @twice.register_fake
    def _(x: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(x)

    print(torch.compile(lambda x: twice(x) + 1)(X))


def own_gradient() -> None:
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
            (x,) = ctx.saved_tensors
            return gradients[0] * 3 * x * x

    x = X.clone().requires_grad_()
    torch.compile(lambda x: Cube.apply(x).sum())(x).backward()
    print(x.grad)


def hooks_of_tensors() -> None:
    x = X.clone().requires_grad_()
    x.register_hook(lambda gradient: gradient * 2)
    torch.compile(lambda x: (x * x).sum())(x).backward()
    print(x.grad)


def subclass() -> None:
    class Named(torch.Tensor):
        pass

    found = torch.compile(lambda x: x + 1, backend="eager")(X.as_subclass(Named))
    print(type(found).__name__, found.as_subclass(torch.Tensor))


def vmap() -> None:
    print(torch.compile(torch.func.vmap(torch.func.grad(lambda x: x.sin() * x)))(X))


def compiled_autograd() -> None:
    x = X.clone().requires_grad_()
    with torch._dynamo.config.patch(compiled_autograd=True):
        torch.compile(lambda x: (x.sin() * x).sum(), backend="aot_eager")(x).backward()
    print(x.grad)


def optimizer() -> None:
    model = torch.nn.Linear(4, 2)
    torch.nn.init.constant_(model.weight, 0.5)
    torch.nn.init.zeros_(model.bias)
    steps = torch.optim.SGD(model.parameters(), lr=0.1)
    compiled = torch.compile(model)
    for _ in range(2):
        steps.zero_grad()
        compiled(X).sum().backward()
        torch.compile(steps.step, backend="aot_eager")()
    print(model.weight)


def checkpoint() -> None:
    from torch.utils.checkpoint import checkpoint as again

    x = X.clone().requires_grad_()
    torch.compile(lambda x: again(lambda y: y.sin().exp(), x, use_reentrant=False).sum())(x).backward()
    print(x.grad)


def disabled() -> None:
    @torch.compiler.disable
    def aside(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    print(torch.compile(lambda x: aside(x + 1) + 1)(X))
    with torch.compiler.set_stance("force_eager"):
        print(torch.compile(lambda x: x + 5)(X))
    counters()


def inference() -> None:
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        print(torch.compile(torch.nn.Linear(4, 4).eval())(X).dtype)


def scripted() -> None:
    print(torch.jit.trace(lambda x: x.sin() + 1, X)(X), torch.fx.symbolic_trace(torch.nn.ReLU())(X))
    print(torch.compile(torch.fx.symbolic_trace(torch.nn.ReLU()))(X))


def sizes() -> None:
    @torch.compile(dynamic=True)
    def ends(x: torch.Tensor) -> torch.Tensor:
        return x[: x.shape[0] // 2].cumsum(0)

    print([ends(torch.ones(length)).shape for length in (4, 6, 9)])


def runs_us() -> None:
    """A run of this tool in one."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "inner.py")
        script.write_text("import torch\nprint(torch.compile(torch.cos)(torch.ones(3)))\n")
        words = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", f"{folder}/dump", str(script)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        print(done.returncode, done.stdout, done.stderr.count("Traceback"))
    print(torch.compile(torch.sin)(X))


def explains() -> None:
    print(torch._dynamo.explain(lambda x: x.sin() + 1)(X).graph_count)


WAYS: dict[str, Callable[[], None]] = {
    way.__name__: way
    for way in (
        *(many_recompiles, the_limit, the_limit_raises, inner_compile, another_backend, reloads, deep, conditional),
        *(own_operator, own_gradient, hooks_of_tensors, subclass, vmap, compiled_autograd, optimizer, checkpoint),
        *(disabled, inference, scripted, sizes, runs_us, explains),
    )
}

if __name__ == "__main__":
    WAYS[sys.argv[1]]()
