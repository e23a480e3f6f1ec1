"""Functions of which one call leaves something else behind than its results: changed inputs, shared memory, strides.

Each is compiled and called once, in the order in which `FUNCTIONS` has them. Prints for each whether the compiled one
leaves behind what the function does.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._inductor import config

aten = torch.ops.aten


def pushed(history: Tensor, now: Tensor) -> Tensor:
    """Torch 2.13 gives the history the changed values."""
    history[:] = now[:]
    now.mul_(10)
    return now + 1


def in_order(history: Tensor, now: Tensor) -> Tensor:
    history.copy_(now + 1)
    now.mul_(10)
    return now + 1


def scattered(x: Tensor, row: Tensor) -> Tensor:
    """Torch 2.13 returns the input."""
    new = torch.select_scatter(x, row, 0, 0)
    x.copy_(new)
    return new


def views(x: Tensor, row: Tensor) -> tuple[Tensor, ...]:
    z = x + row
    x[:, 1] = row[:, 0]
    return z, z.view(-1), x[:, 1], x.t(), z.sum().expand(3), x.contiguous(), z.chunk(2, 1)[1]


def not_written(x: Tensor, y: Tensor) -> Tensor:
    """Compiled with a pass that drops what is written to the last input."""
    x.mul_(2)
    y.add_(1)
    return x + y


def transposed(x: Tensor, y: Tensor) -> Tensor:
    """Compiled with strides that are not those of the function's result."""
    return (x + y).t()


def drops_write(graph: torch.fx.Graph) -> None:
    graph.erase_node(graph.find_nodes(op="call_function", target=aten.copy_.default)[-1])


def other_strides(graph: torch.fx.Graph) -> None:
    output = graph.output_node()
    (result,) = output.all_input_nodes
    with graph.inserting_before(output):
        copy = graph.call_function(aten.clone.default, (result,), {"memory_format": torch.contiguous_format})
        copy.meta["val"] = result.meta["val"].clone(memory_format=torch.contiguous_format)
    output.args = ([copy],)


def trained(x: Tensor, count: Tensor) -> Tensor:
    """Compiled, with gradients, with a pass over the joint graph that makes the count another one."""
    count.add_(3)
    return x * 2


def other_count(graph: torch.fx.Graph) -> None:
    for node in graph.find_nodes(op="call_function", target=aten.add.Tensor):
        if node.args[1] == 3:
            node.args = (node.args[0], 4)


def reshaped(x: Tensor, y: Tensor) -> Tensor:
    x.unsqueeze_(0)
    return x + y


def keeping(x: Tensor) -> Tensor:
    """Its second call, of which the check of the program's function makes the first, is another one."""
    if not STATE:
        STATE.append(torch.ones(4))
    STATE[0].mul_(2)
    return STATE[0] + x


STATE: list[Tensor] = []
FUNCTIONS: tuple[Callable[..., Any], ...] = (
    *(pushed, in_order, scattered, views, not_written, transposed, trained),
    reshaped,
)
PASSES: dict[str, tuple[str, Callable[[torch.fx.Graph], None]]] = {
    "not_written": ("post_grad_custom_post_pass", drops_write),
    "transposed": ("joint_custom_post_pass", other_strides),
    "trained": ("joint_custom_post_pass", other_count),
}


def left(function: Callable[..., Any], name: str) -> list[Any]:
    """What a call leaves behind, and its arguments after its first result is changed."""
    torch.manual_seed(0)
    x, y = torch.rand(3, 4), torch.rand(4 if name == "scattered" else (3, 4))
    if name == "trained":
        x.requires_grad_()
    found = function(x, y)
    results = found if isinstance(found, tuple) else (found,)
    kept = [(one.tolist(), one.stride()) for one in (*results, x, y)]
    results[0].detach().zero_()
    return [*kept, x.tolist(), y.tolist()]


for function in FUNCTIONS:
    name = function.__name__
    setting, edit = PASSES.get(name, ("joint_custom_post_pass", None))
    with config.patch({setting: edit}):
        print(name, left(torch.compile(function), name) == left(function, name))
torch.compile(keeping)(torch.rand(4))
