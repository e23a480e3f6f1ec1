"""What can become of functions that are asked to run as CUDA graphs: one of each, by the names in argv; all otherwise.

Prints a number of each result, which must not depend on whether somebody watches.
"""

import logging
import sys

import torch

logging.disable(logging.WARNING)


def told(name, value):
    print(f"{name} {float(value.detach().double().abs().sum()):.6g}", flush=True)


def replayed():
    """Warmed up once, recorded once, replayed four times."""
    layer = torch.nn.Linear(64, 64).cuda().requires_grad_(False)
    compiled = torch.compile(lambda x: layer(x), mode="reduce-overhead")
    x = torch.randn(8, 64, device="cuda")
    for _ in range(6):
        y = compiled(x)
    told("replayed", y)


def training():
    """Forward and backward, of one compile id."""
    net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 1)).cuda()
    compiled = torch.compile(lambda x: net(x), mode="reduce-overhead")
    x = torch.randn(32, 64, device="cuda")
    for _ in range(6):
        net.zero_grad(set_to_none=True)
        compiled(x).sum().backward()
    told("training", net[0].weight.grad)


def parameters():
    """Each parameter anew, three times: the address of a static input has changed."""
    layer = torch.nn.Linear(64, 64).cuda().requires_grad_(False)
    compiled = torch.compile(lambda x: layer(x), mode="reduce-overhead")
    x = torch.randn(8, 64, device="cuda")
    kept = []
    for _ in range(3):
        kept.append(layer.weight)
        layer.weight = torch.nn.Parameter(layer.weight.clone(), requires_grad=False)
        for _ in range(4):
            y = compiled(x)
    told("parameters", y)


def path():
    """The second of two functions runs after the first, and then on its own."""

    @torch.compile(mode="reduce-overhead")
    def double(x):
        return x * 2 + 1

    @torch.compile(mode="reduce-overhead")
    def root(x):
        return (x * x + 3).sqrt()

    x = torch.randn(256, device="cuda")
    for _ in range(4):
        torch.compiler.cudagraph_mark_step_begin()
        y = root(double(x))
    for _ in range(4):
        torch.compiler.cudagraph_mark_step_begin()
        y = y.clone() + root(x)
    told("path", y)


def mutated():
    """An input is changed in place: no CUDA graph."""

    @torch.compile(mode="reduce-overhead")
    def change(x):
        x.add_(1)
        return x * 2

    x = torch.zeros(64, device="cuda")
    for _ in range(4):
        y = change(x)
    told("mutated", y)


def sizes():
    """Ten sizes, each recorded for itself; torch warns of more than eight."""
    compiled = torch.compile(lambda x: (x * 2).sin(), mode="reduce-overhead", dynamic=True)
    total = torch.zeros((), device="cuda")
    for _ in range(3):
        for size in range(8, 18):
            total += compiled(torch.ones(size, device="cuda")).sum()
    told("sizes", total)


def partitioned():
    """An operation on the CPU in the middle: the parts around it are CUDA graphs."""

    @torch.compile(mode="reduce-overhead")
    def through(x, c):
        y = (x * 2).relu()
        moved = y.cpu() + c
        return (moved.cuda() * 3).sin() + y

    x, c = torch.randn(64, device="cuda"), torch.randn(64)
    for _ in range(5):
        y = through(x, c)
    told("partitioned", y)


def backend():
    """CUDA graphs without Inductor."""
    compiled = torch.compile(lambda x: (x * 3).cos(), backend="cudagraphs")
    x = torch.randn(64, device="cuda")
    for _ in range(5):
        y = compiled(x)
    told("backend", y)


def own():
    """The program captures a compiled function itself."""
    compiled = torch.compile(lambda x: (x * 5).tanh())
    x = torch.randn(64, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            compiled(x)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = compiled(x)
    for _ in range(7):
        graph.replay()
    told("own", y)


def treeless():
    """Inductor's CUDA graphs without the trees."""
    with torch._inductor.config.patch({"triton.cudagraph_trees": False}):
        compiled = torch.compile(lambda x: (x * 7).exp(), mode="reduce-overhead")
        x = torch.randn(64, device="cuda")
        for _ in range(5):
            y = compiled(x)
    told("treeless", y)


SCENES = (replayed, training, parameters, mutated, sizes, partitioned, backend, own, treeless, path)
"""Each has frames of its own, numbered in this order; who has marked a step once must mark all of them: so that is last."""

if __name__ == "__main__":
    torch.manual_seed(0)
    for scene in SCENES:
        if len(sys.argv) == 1 or scene.__name__ in sys.argv[1:]:
            try:
                scene()
            except Exception as error:
                print(f"{scene.__name__} {type(error).__name__}: {error}", flush=True)
