"""What computes the value of a node in fp64, where its own operator can't, or needs too much memory for it."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import torch
from torch.fx import Node

from inspect_compile.lowering.intervention.numerics.graphs.nodes import name_of

_CONVOLUTION: Final = "aten.convolution.default"
_FEWEST: Final = 2
"""Number of samples from which on a batch may be divided."""
_WINDOWS: Final = {"cpu": 1 << 23, "cuda": 1 << 29}
"""Number of bytes that the windows of a convolution may take at once."""
_ATTENTIONS: Final = tuple(
    f"aten._scaled_dot_product_{kind}_attention.default" for kind in ("efficient", "flash", "cudnn")
)
"""Those of GPUs, which have no fp64."""
_PACKED_LINEAR: Final = ("mkl._mkl_linear", "mkl._mkl_linear.default")


def in_fp64(node: Node, own: Any) -> Callable[..., Any]:
    """What computes the value of a node in fp64; `own` is that in its dtypes."""
    if name_of(node.target) == _CONVOLUTION:
        return _convolution
    if name_of(node.target) in _ATTENTIONS:
        return lambda *args, **kwargs: (_attention(node, args, kwargs), *own[1:])
    return _packed_linear if name_of(node.target) in _PACKED_LINEAR else node.target  # type: ignore[return-value]


def _convolution(x: torch.Tensor, weight: torch.Tensor, *others: Any, **options: Any) -> torch.Tensor:
    """Some samples of a batch after the others: libraries have no other way in fp64 than to copy all windows."""
    convolution: Callable[..., torch.Tensor] = torch.ops.aten.convolution.default
    if x.dim() < weight.dim() or x.shape[0] < _FEWEST:
        return convolution(x, weight, *others, **options)
    windows = x[0].numel() * math.prod(weight.shape[2:]) * x.element_size()
    samples = max(1, _WINDOWS.get(x.device.type, _WINDOWS["cpu"]) // max(windows, 1))
    return torch.cat([convolution(one, weight, *others, **options) for one in torch.split(x, samples)])


def _attention(node: Node, args: Sequence[Any], kwargs: Mapping[str, Any]) -> torch.Tensor:
    """The first result of a GPU's attention without a dropout; the others are numbers for its backward."""
    names = (one.name for one in node.target._schema.arguments)  # type: ignore[union-attr]
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    return torch.nn.functional.scaled_dot_product_attention(
        given["query"],
        given["key"],
        given["value"],
        given.get("attn_bias"),
        is_causal=given.get("is_causal", False),
        scale=given.get("scale"),
    )


def _packed_linear(x: torch.Tensor, packed: Any, weight: torch.Tensor, bias: Any, _: int) -> torch.Tensor:
    """MKL's, whose argument `packed` is the weight in its own layout."""
    return torch.nn.functional.linear(x, weight, bias)
