"""Makes a graph of a Triton kernel's launch that is in no graph, so that the kernel is compiled for the targets too."""

import importlib
import traceback
from typing import Any, Final

import torch
from torch.fx import Graph, GraphModule

from inspect_compile.lowering.intervention.cross_compile.pickling.graph_pickle import packed
from inspect_compile.torch_compat import user_kernels as names

_OPTIONS: Final[tuple[str, ...]] = ("num_warps", "num_stages", "num_ctas", "maxnreg")
"""Keywords of a launch that belong to the kernel's configuration and are not its arguments."""


def packed_launch(
    kernel: Any,
    grid: Any,
    given: dict[str, Any],
    described: dict[str, Any],
    settings: Any,
    frame: traceback.FrameSummary | None,
) -> bytes:
    """The launch `kernel[grid](**given)` as a pickled graph, at the program's line in `frame`.

    `given` and `described` are those of `user_kernels.plain`, `settings` those of `sender.settings`. Raises what pickle
    raises.
    """
    options = {name: given[name] for name in _OPTIONS if name in given and name not in kernel.arg_names}
    arguments = {name: given[name] for name in kernel.arg_names if name in given}
    if options:
        kernel = _configured(kernel, options)
    tensors = {name: value for name, value in arguments.items() if isinstance(value, torch.Tensor)}
    constants = {name: value for name, value in arguments.items() if name not in tensors}
    table = names.SIDE_TABLE.load()
    graph = Graph()
    places = {name: graph.placeholder(name) for name in tensors}
    launched = graph.call_function(
        names.MUTATING.load(),
        kwargs={
            "kernel_idx": table.add_kernel(kernel),
            "constant_args_idx": table.add_constant_args(constants),
            "grid": _grids(kernel, grid, arguments),
            "tma_descriptor_metadata": described,
            "kwargs": places,
        },
    )
    if frame is not None:
        launched.meta["stack_trace"] = "".join(traceback.format_list([frame]))
    graph.output(())
    inputs = [tensor.detach() for tensor in tensors.values()]
    return packed(GraphModule(torch.nn.Module(), graph), inputs, settings, "", ())


def _configured(kernel: Any, options: dict[str, Any]) -> Any:
    """The kernel with these options as its only configuration."""
    tuner = importlib.import_module("triton.runtime.autotuner")
    return tuner.autotune([tuner.Config({}, **options)], key=[])(kernel)


def _grids(kernel: Any, grid: Any, arguments: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The grid, once if it is the same for all configurations, else for each of them."""
    configurations = getattr(kernel, "configs", None) or [None]
    if not callable(grid):
        return [tuple(grid)]
    found = [
        tuple(grid({**arguments, **(configuration.kwargs if configuration is not None else {})}))
        for configuration in configurations
    ]
    return found[:1] if len(set(found)) == 1 else found
