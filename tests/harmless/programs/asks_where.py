"""Conditions on sizes and values that come from somewhere: torch walks the stack to tell from where, and shows it."""

import logging
import os
import shutil
import tempfile
import warnings

os.environ["TORCH_DTRACE"] = tempfile.mkdtemp()

import torch  # noqa: E402 - its logs read the variable
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

logging.basicConfig(format="%(pathname)s:%(lineno)d %(funcName)s %(message)s")


class Conditional(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        n = x.item()
        return y * n if n > 2 else y[: n + 1]


class Plain(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[: x.shape[0] // 2] * 2


@torch.compile(dynamic=True, backend="eager")
def by_size(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.sum() + y.sum() if x.shape[0] > y.shape[0] else x * 2


def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> object:
    """Names the callers of its own, as libraries do."""
    for level in range(1, 12):
        warnings.warn(f"level {level}", stacklevel=level)
        logging.getLogger("asks").warning("level %d", level, stacklevel=level)
    return graph.forward


def main() -> None:
    warnings.simplefilter("always", UserWarning)
    exported = torch.export.draft_export(Conditional(), (torch.tensor(5), torch.ones(8)))
    print(exported._report)
    for failure in exported._report.failures:
        print(failure.failure_type, [frame["loc"] for frame in failure.data["stack"]], failure.data["frame_locals"])
    for node in exported.graph.nodes:
        print(node, node.meta.get("stack_trace"))
    traced = make_fx(Plain(), tracing_mode="symbolic", record_stack_traces=True)(torch.ones(8))
    for node in traced.graph.nodes:
        print(node, node.stack_trace)
    print(by_size(torch.ones(5), torch.ones(3)), by_size(torch.ones(2), torch.ones(3)))
    print(torch.compile(lambda x: x[: x.shape[0] // 2] * 2, dynamic=True)(torch.ones(6)))
    print(torch.compile(lambda x: x + 1, backend=backend)(torch.ones(3)))


main()
shutil.rmtree(os.environ["TORCH_DTRACE"])
