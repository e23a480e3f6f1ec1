"""Compiles, traces and changes graphs in what a compiled function calls after a graph break, where Dynamo looks on."""

import torch
from functorch.compile import aot_function, make_boxed_func
from torch._dynamo import convert_frame
from torch.fx.experimental.proxy_tensor import make_fx

OFFERED: list[str] = []
offered = convert_frame.ConvertFrame.__call__


def look(convert, frame, *args, **kwargs):  # type: ignore[no-untyped-def]
    """Dynamo is offered a frame."""
    OFFERED.append(f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}")
    return offered(convert, frame, *args, **kwargs)


convert_frame.ConvertFrame.__call__ = look  # type: ignore[method-assign]


def boxed(graph, inputs):  # type: ignore[no-untyped-def]
    """A compiler of AOTAutograd's."""
    return make_boxed_func(graph.forward)


def with_autograd(x: torch.Tensor) -> torch.Tensor:
    return aot_function(torch.sin, boxed)(x)


def with_inductor(x: torch.Tensor) -> torch.Tensor:
    return torch.compile(lambda x: x.sin() * 2)(x)


def with_export(x: torch.Tensor) -> torch.Tensor:
    class Sine(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.sin()

    return torch.export.export(Sine(), (x.detach(),)).module()(x.detach())


def with_fx(x: torch.Tensor) -> torch.Tensor:
    graph = make_fx(lambda x: (x.cos(), x.sin())[1])(x.detach())
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return graph(x)


def after_a_reset(x: torch.Tensor) -> torch.Tensor:
    torch._dynamo.reset()
    return x.sin()


for work in (with_autograd, with_inductor, with_export, with_fx, after_a_reset):

    def broken(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        torch._dynamo.graph_break()
        return work(y.detach().requires_grad_()) + 1  # noqa: B023 - it is called at once

    OFFERED.clear()
    print(work.__name__, torch.compile(broken, backend="eager")(torch.ones(3, requires_grad=True)))
    print(len(OFFERED), *OFFERED)
