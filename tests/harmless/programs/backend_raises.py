"""A backend of the program's own raises: once caught, with the frames printed that the exception came through."""

import traceback

import torch


def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> torch.fx.GraphModule:
    raise RuntimeError(f"cannot compile {len(list(graph.graph.nodes))} nodes")


@torch.compile(backend=backend)
def shifted(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


try:
    shifted(torch.ones(3))
except Exception as error:
    for link in (error, error.__cause__, error.__context__):
        print(type(link).__name__, [frame.name for frame in traceback.extract_tb(getattr(link, "__traceback__", None))])
shifted(torch.ones(3))
