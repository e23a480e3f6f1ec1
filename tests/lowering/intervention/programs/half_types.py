"""Programs in half types: what eager alone makes infinite, and mistakes in float32 within them; `right` has none, and
`twice` none with kernels that round on the way, too.
"""

import sys
from typing import Final

import torch
from torch import Tensor
from torch._inductor import config
from torch._inductor.ir import TensorBox
from torch._inductor.lowering import make_pointwise, register_lowering
from torch._inductor.virtualized import ops


def overflow(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.var(-1, keepdim=True) + 1e-9)


def norm(x: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    x = x + weight
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype), wide.mean(-1).rsqrt()


def positions(x: Tensor, frequencies: Tensor) -> Tensor:
    angles = torch.arange(x.shape[1], device=x.device).float()[:, None] * frequencies.float()[None] * 0.01
    return x * torch.sin(angles).to(x.dtype) + x


def logarithm(x: Tensor, weight: Tensor) -> Tensor:
    wide = x.float()
    scaled = (wide.square().log1p() * wide).to(x.dtype)
    return scaled * weight + x


def spread(x: Tensor, y: Tensor, z: Tensor, weight: Tensor) -> Tensor:
    """Two kernels read how far values spread around their mean, which eager rounds on the way."""
    wide = (x + (y + z)).float()
    variance, mean = torch.var_mean(wide, -1, keepdim=True, correction=0)
    normal = ((wide - mean) * torch.rsqrt(variance + 1e-5)).to(x.dtype)
    return ((wide - mean) * torch.rsqrt(variance + 2e-5) * 1.5 + normal @ weight).to(x.dtype)


def shifted(x: Tensor, shift: Tensor) -> Tensor:
    """The second kernel reads the shift where Inductor keeps it, rounded, which is no node's value."""
    half = shift.to(x.dtype)
    return torch.sinh((x - half) @ x - half)


def _from_realized(x: TensorBox, shift: TensorBox) -> TensorBox:
    if not _REALIZED:
        _REALIZED.append(make_pointwise(lambda value: value)(shift))
        _REALIZED[0].realize()
    return make_pointwise(ops.sub)(x, _REALIZED[0])


_REALIZED: Final[list[TensorBox]] = []


def parts(x: Tensor) -> Tensor:
    """The kernel reads the whole of what it has stored in parts."""
    return torch.stack([x.floor(), torch.fmod(x, 0.37), x.clamp(-0.2, 0.3)]).sum(0)


def _hardly_more(x: Tensor) -> Tensor:
    """Less than half a unit in the last place of bfloat16."""
    return make_pointwise(lambda value: ops.log1p(value) * ops.constant(1.003, torch.float32))(x)  # type: ignore[return-value]


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
    if sys.argv[1] in ("hardly", "twice"):
        if sys.argv[1] == "hardly":
            register_lowering(torch.ops.aten.log1p.default)(_hardly_more)
        config.emulate_precision_casts = sys.argv[1] == "twice"
        for dtype in (torch.bfloat16, torch.float16):
            torch.compile(logarithm)(torch.randn(64, 32).to(dtype), torch.rand(32).to(dtype))
        config.emulate_precision_casts = False
        torch.compile(parts)(torch.randn(64, 64).bfloat16())
        return
    if sys.argv[1] == "wrong":
        register_lowering(torch.ops.aten.rsqrt.default)(_slightly_more)
        config.post_grad_custom_post_pass = _scale
        torch.compile(norm)(torch.rand(64, 32).bfloat16(), torch.rand(32).bfloat16())
    else:
        torch.compile(norm)(torch.rand(64, 32).bfloat16(), torch.rand(32).bfloat16())
        torch.compile(overflow)(torch.full((3, 5), 1e-10).half())
        x, y, z = torch.randn(3, 128, 16).bfloat16()
        torch.compile(spread)(x, y, z, torch.randn(16, 16).bfloat16())
    torch.compile(positions)(torch.randn(4, 64, 32).bfloat16(), torch.rand(32).bfloat16())
    if sys.argv[1] == "right":
        register_lowering(torch.ops.aten.sub.Tensor)(_from_realized)
        torch.compile(shifted)(torch.randn(64, 64).bfloat16(), torch.rand(64, 64))


if __name__ == "__main__":
    main()
