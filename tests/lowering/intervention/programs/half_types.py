"""Programs in half types: what eager alone makes infinite, and mistakes in float32 within them; `right` has none."""

import sys

import torch
from torch import Tensor
from torch._inductor import config
from torch._inductor.lowering import make_pointwise, register_lowering
from torch._inductor.virtualized import ops


def overflow(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.var(-1, keepdim=True) + 1e-9)


def norm(x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    x = x + weight
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype), wide.mean(-1).rsqrt()


def positions(x: Tensor, frequencies: Tensor) -> Tensor:
    angles = torch.arange(x.shape[1]).float()[:, None] * frequencies.float()[None] * 0.01
    return x * torch.sin(angles).to(x.dtype) + x


def _slightly_more(x: Tensor) -> Tensor:
    return make_pointwise(lambda value: ops.rsqrt(value) * ops.constant(1.02, torch.float32))(x)  # type: ignore[return-value]


def _scale(graph: torch.fx.Graph) -> None:
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default):
        angles = node.args[0]
        with graph.inserting_before(node):
            scaled = graph.call_function(torch.ops.aten.mul.Tensor, (angles, 1.01))
        scaled.meta = dict(angles.meta)
        node.replace_input_with(angles, scaled)


def main() -> None:
    torch.manual_seed(0)
    if sys.argv[1] == "wrong":
        register_lowering(torch.ops.aten.rsqrt.default)(_slightly_more)
        config.post_grad_custom_post_pass = _scale
        torch.compile(norm)(torch.rand(64, 32).bfloat16(), torch.rand(32).bfloat16())
    else:
        torch.compile(norm)(torch.rand(64, 32).bfloat16(), torch.rand(32).bfloat16())
        torch.compile(overflow)(torch.full((3, 5), 1e-10).half())
    torch.compile(positions)(torch.randn(4, 64, 32).bfloat16(), torch.rand(32).bfloat16())


if __name__ == "__main__":
    main()
