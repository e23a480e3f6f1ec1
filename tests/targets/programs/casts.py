"""The order in which autocast casts what each operator is given: torch's own on the CPU, or (`gpu`) as for a GPU."""

import json
import sys

import torch
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx

if sys.argv[1] == "gpu":
    from inspect_compile.lowering.intervention.cross_compile import autocast

    autocast.install()

image, weight, bias, square, half = (
    torch.randn(2, 4, 8, 8),
    torch.randn(4, 4, 3, 3),
    torch.randn(4),
    torch.randn(4, 4),
    torch.randn(4, dtype=torch.bfloat16),
)
CALLS = {
    "conv": (F.conv2d, (image, weight, bias), {}),
    "named": (F.conv2d, (image,), {"bias": bias, "weight": weight}),
    "transposed": (F.conv_transpose2d, (image, weight, bias), {}),
    "linear": (F.linear, (square, square + 1, bias), {}),
    "addmm": (torch.addmm, (bias, square, square + 1), {}),
    "matmul": (torch.matmul, (square, square + 1), {}),
    "attention": (F.scaled_dot_product_attention, (image, image + 1, image + 2, image + 3), {}),
    "loss": (F.mse_loss, (half, half + 1), {}),
}
found = {}
for name, (call, arguments, named) in CALLS.items():

    def computed(*tensors: torch.Tensor, call=call, named=tuple(named)) -> torch.Tensor:
        plain = len(tensors) - len(named)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return call(*tensors[:plain], **dict(zip(named, tensors[plain:], strict=True)))

    graph = make_fx(computed)(*arguments, *named.values()).graph
    copies = graph.find_nodes(op="call_function", target=torch.ops.aten._to_copy.default)
    found[name] = [copy.args[0].name for copy in copies]
print(json.dumps(found))
