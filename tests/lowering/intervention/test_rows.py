"""An operator of torch's that is right only for some strides has its right value in the reference, and in fp64."""

import torch
from torch import Tensor, fx

from inspect_compile.lowering.intervention.numerics.graphs.exact import Exact
from inspect_compile.lowering.intervention.numerics.graphs.reference import reference

FORWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default


def interleaved(value: Tensor) -> Tensor:
    """The value with its heads beside each other in memory."""
    return value.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)


def test_the_backward_of_an_attention() -> None:
    torch.manual_seed(0)
    query, key, value = (torch.randn(2, 2, 16, 16, dtype=torch.float64, requires_grad=True) for _ in range(3))
    gradient = torch.randn(2, 2, 16, 16, dtype=torch.float64)
    ((query @ key.mT * 0.25).softmax(-1) @ value).backward(gradient)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        out, sums = FORWARD(query, key, value, 0.0, False, scale=0.25)
        inputs = [gradient, *map(interleaved, (query, key, value, out)), sums]
    graph = fx.Graph()
    places = [graph.placeholder(f"in_{at}") for at in range(len(inputs))]
    made = graph.call_function(BACKWARD, (*places, 0.0, False), {"scale": 0.25})
    first = graph.call_function(lambda found: found[0], (made,))
    first.name = "first"
    graph.output((first,))
    module = fx.GraphModule({}, graph)

    plain = reference(module, inputs)

    assert query.grad is not None
    assert torch.allclose(plain.values["first"], query.grad)
    assert torch.allclose(Exact(module, plain, ()).value("first"), query.grad)
