"""Values in fp64, and what computes that of a node where its own operator can't, or needs too much memory for it."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import torch
from torch.fx import Node
from torch.fx.node import map_aggregate

from inspect_compile.lowering.intervention.numerics.graphs.nodes import has_no_dropout, name_of

_CONVOLUTION: Final = "aten.convolution.default"
_FEWEST: Final = 2
"""Number of samples from which on a batch may be divided."""
_WINDOWS: Final = {"cpu": 1 << 23, "cuda": 1 << 29}
"""Number of bytes that the windows of a convolution may take at once."""
_ATTENTIONS: Final = tuple(
    f"aten._scaled_dot_product_{kind}_attention.default" for kind in ("efficient", "flash", "cudnn")
)
"""Those of GPUs, which have no fp64."""
_INPUTS: Final = ("query", "key", "value", "attn_bias")
"""Their arguments that have gradients, in the order of the results of their backwards."""
_THEIR_BACKWARDS: Final = tuple(name.replace(".default", "_backward.default") for name in _ATTENTIONS)
_PACKED_LINEAR: Final = ("mkl._mkl_linear", "mkl._mkl_linear.default")


def in_fp64(node: Node, own: Any) -> Callable[..., Any]:
    """What computes the value of a node in fp64; `own` is that in its dtypes."""
    if name_of(node.target) == _CONVOLUTION:
        return _convolution
    if name_of(node.target) in _ATTENTIONS:
        return lambda *args, **kwargs: (_attention(_by_name(node.target, args, kwargs)), *own[1:])
    if name_of(node.target) in _THEIR_BACKWARDS and has_no_dropout(node):
        return lambda *args, **kwargs: _attention_backward(_by_name(node.target, args, kwargs), own)
    return _packed_linear if name_of(node.target) in _PACKED_LINEAR else node.target  # type: ignore[return-value]


def _convolution(x: torch.Tensor, weight: torch.Tensor, *others: Any, **options: Any) -> torch.Tensor:
    """Some samples of a batch after the others: libraries have no other way in fp64 than to copy all windows."""
    convolution: Callable[..., torch.Tensor] = torch.ops.aten.convolution.default
    if x.dim() < weight.dim() or x.shape[0] < _FEWEST:
        return convolution(x, weight, *others, **options)
    windows = x[0].numel() * math.prod(weight.shape[2:]) * x.element_size()
    samples = max(1, _WINDOWS.get(x.device.type, _WINDOWS["cpu"]) // max(windows, 1))
    return torch.cat([convolution(one, weight, *others, **options) for one in torch.split(x, samples)])


def called_in_fp64(operator: Any, args: Sequence[Any], kwargs: Mapping[str, Any], own: Any) -> Any:
    """What an operator that is called below autograd gives for arguments in fp64; `own` is that in its dtypes. Raises
    NotImplementedError, or what the operator does.
    """
    if str(operator) in _ATTENTIONS:
        return _attention(_by_name(operator, args, kwargs)), *own[1:]
    if str(operator) in _THEIR_BACKWARDS:  # cuDNN's takes numbers in fp64 for such in half types
        raise NotImplementedError(str(operator))
    return operator(*args, **kwargs)


def _by_name(operator: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an operator."""
    names = (one.name for one in operator._schema.arguments)
    return {**dict(zip(names, args, strict=False)), **kwargs}


def _attention(given: Mapping[str, Any]) -> torch.Tensor:
    """The first result of a GPU's attention without a dropout; the others are numbers for its backward."""
    return torch.nn.functional.scaled_dot_product_attention(
        given["query"],
        given["key"],
        given["value"],
        given.get("attn_bias"),
        is_causal=given.get("is_causal", False),
        scale=given.get("scale"),
    )


def _attention_backward(given: Mapping[str, Any], own: Sequence[Any]) -> tuple[Any, ...]:
    """The gradients of that, from what the forward was given: what it saved was rounded. Those that are not asked for
    are taken from `own`.
    """
    asked = zip(_INPUTS, given.get("grad_input_mask", [True] * len(own)), strict=False)
    inputs = {name: given[name].detach() for name, is_asked in asked if is_asked and given.get(name) is not None}
    with torch.enable_grad():
        for one in inputs.values():
            one.requires_grad_()
        result = _attention({**given, **inputs})
        gradients = torch.autograd.grad(result, list(inputs.values()), given.get("grad_out", given.get("grad_out_")))
    found = dict(zip(inputs, gradients, strict=True))
    return tuple(found.get(name, before) for name, before in zip(_INPUTS, own, strict=False))


def _packed_linear(x: torch.Tensor, packed: Any, weight: torch.Tensor, bias: Any, _: int) -> torch.Tensor:
    """MKL's, whose argument `packed` is the weight in its own layout."""
    return torch.nn.functional.linear(x, weight, bias)


def wide(value: Any) -> Any:
    """A value with its tensors in fp64, as far as they are of floating types."""
    return map_aggregate(value, widened) if isinstance(value, (tuple, list)) else widened(value)


def widened(value: Any) -> Any:
    """The same of one value."""
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:  # oneDNN's own form has no fp64
        return value
    if value.is_floating_point():
        return value.to(torch.float64)
    return value.to(torch.complex128) if value.is_complex() else value


def raised(value: Any) -> Any:
    """A dtype among the arguments in its widest form."""
    if not isinstance(value, torch.dtype):
        return value
    if value.is_floating_point:
        return torch.float64
    return torch.complex128 if value.is_complex else value
