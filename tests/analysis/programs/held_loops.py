"""What a wrapper with loops and graphs that are called more than once does with memory."""

import torch
from torch._higher_order_ops import associative_scan, scan, while_loop
from torch._higher_order_ops.invoke_subgraph import mark_compile_region
from torch._higher_order_ops.map import map as mapped

torch._dynamo.config.capture_scalar_outputs = True  # scan and map are loops over an index


def start():
    return torch.zeros((), dtype=torch.int64)


@torch.compile
def loop(x):
    y = x @ x
    _, z = while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, (y @ y @ y).clamp(-1, 1)), (start(), y))
    return z @ x, y


@torch.compile
def exchange(x):
    def body(i, a, b):
        c = a @ b
        return i + 1, c @ a, c

    _, a, b = while_loop(lambda i, a, b: i < 4, body, (start(), x, x @ x))
    return a + b


@torch.compile
def scanned(x):
    def step(carried, each):
        following = carried @ each
        return following, following @ each

    return scan(step, torch.eye(16), x)


@torch.compile
def every(x):
    return mapped(lambda each, weight: each @ weight @ weight, x, torch.ones(16, 16))


@torch.compile
def prefixes(x):
    return associative_scan(lambda a, b: a * b, x, dim=0, combine_mode="generic")


@mark_compile_region
def region(x, weight):
    return x @ weight @ weight


@torch.compile
def regions(x, weight):
    return region(region(x, weight), weight)


with torch.no_grad():
    loop(torch.ones(16, 16))
    exchange(torch.ones(16, 16))
    scanned(torch.ones(5, 16, 16))
    every(torch.ones(5, 16, 16))
    prefixes(torch.ones(8, 16))
    regions(torch.ones(16, 16), torch.ones(16, 16))
regions(torch.ones(16, 16), torch.ones(16, 16, requires_grad=True)).sum().backward()
