"""Which operators round what they compute, and to which type."""

from typing import Any, Final

import torch
from torch.fx import Node

from inspect_compile.lowering.intervention.numerics.graphs.nodes import name_of, once_an_operator
from inspect_compile.lowering.intervention.numerics.graphs.patterns import leaves

_VIEWS: Final = ("view", "reshape", "permute", "expand", "squeeze", "unsqueeze", "slice", "select", "getitem", "clone")
"""Nodes that move values and round nothing."""
_EXACT: Final = frozenset((
    "abs", "alias", "amax", "amin", "as_strided", "as_strided_scatter", "cat", "constant_pad_nd", "copy", "copy_",
    "detach", "diagonal", "embedding", "flip", "gather", "index", "max", "maximum", "min", "minimum", "neg", "relu",
    "repeat", "roll", "slice_scatter", "sort", "split", "split_with_sizes", "t", "topk", "transpose", "unbind",
    "unfold", "where",
))  # fmt: skip
"""Operators whose results are elements of their arguments, or these with another sign: they round nothing either."""
_IN_SINGLE: Final = frozenset((
    "_log_softmax", "_softmax", "_to_copy", "convert_element_type", "logsumexp", "mean", "native_batch_norm",
    "native_group_norm", "native_layer_norm", "prod", "sum", "var", "var_mean",
))  # fmt: skip
"""Operators that compute in float32 at least where they are given narrower types, as pointwise ones do."""
_JUMPS: Final = frozenset(("ceil", "floor", "floor_divide", "round", "sgn", "sign", "trunc"))
"""Operators with whole numbers as results, which jump between them."""
_CHOOSES: Final = frozenset(("amax", "amin", "max", "min"))
"""Operators whose results kernels round when they store them, and not the elements that they are compared with."""
_SINGLE: Final = 4
"""Bytes of a number in float32."""


def rounds_nothing(node: Node) -> bool:
    """True for a node whose elements are some of its arguments'."""
    if node.op != "call_function":
        return False
    return any(word in node.name for word in _VIEWS) or _packet(node.target) in _EXACT


def jumps(node: Node, own: Any) -> bool:
    """True for a node with whole numbers or truth values among its results; `own`: its value in its dtypes."""
    tensors = [one for one in leaves([own]) if isinstance(one, torch.Tensor)]
    if any(not one.is_floating_point() and not one.is_complex() for one in tensors):
        return True
    return _packet(node.target) in _JUMPS or node.kwargs.get("rounding_mode") in ("floor", "trunc")


@once_an_operator
def computes_in_single(target: Any) -> bool:
    """True for an operator that rounds nothing to a half type but its result."""
    tags, packet = getattr(target, "tags", ()), _packet(target)
    return torch.Tag.pointwise in tags or packet in _IN_SINGLE or packet in _EXACT


@once_an_operator
def _packet(target: Any) -> str:
    """The name of an operator, without those of its namespace and overload."""
    parts = name_of(target).split(".")
    return parts[1] if len(parts) > 1 else parts[0]


def at_least_single(value: Any) -> Any:
    """A tensor without elements, of the type that a value of a half type is computed with; others as they are."""
    is_half = isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype.itemsize < _SINGLE
    return value.new_empty(0, dtype=torch.float32) if is_half else value


def chooses(node: Node) -> bool:
    """True for a node whose results are the largest, or the smallest, of its argument's elements."""
    return node.op == "call_function" and _packet(node.target) in _CHOOSES
