"""Buffers that a lowering makes to hand a value on: a copy in other strides, or one that is changed in place.

The lowering of `convolution_backward`, of `cat` or of `scatter_add` copies an argument that has no buffer, or not the
right one. The copy is a step of that lowering, and has the value of the FX node that the argument is.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import torch
from torch.fx import Node

from inspect_compile.lowering.intervention.numerics.graphs.patterns import leaves

_TAKES_ARGUMENTS: Final = (
    *("FallbackKernel", "ConcatKernel", "ScatterFallback", "IndexPutFallback", "ExternKernelAlloc"),
    "UserDefinedTritonKernel",
)
"""Operations whose inputs are the tensors among the arguments of their FX node, in the same order."""


def copied_arguments(lowering: Any, makers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Buffers with the value of another node than that in whose lowering they were made: buffer, node.

    `lowering` is torch's GraphLowering after its code was generated; `makers`: operation → FX node.
    """
    nodes = {node.name: node for node in lowering.module.graph.nodes}
    made = {
        buffer.get_name(): makers.get(each.get_operation_name(), "")
        for each in lowering.operations
        for buffer in each.get_outputs()
    }
    for operation in lowering.operations:
        node = nodes.get(makers.get(operation.get_operation_name(), ""))
        if node is None or type(operation).__name__ not in _TAKES_ARGUMENTS:
            continue
        arguments = [one for one in leaves([node.args, node.kwargs]) if _is_tensor(one)]
        inputs = leaves(list(operation.inputs))
        if len(arguments) < len(inputs):
            continue
        for one, argument in zip(inputs, arguments, strict=False):
            name = str(one.get_name())
            if made.get(name) == node.name and has_form(one, argument.meta["val"]):
                yield name, argument.name


def _is_tensor(argument: Any) -> bool:
    return isinstance(argument, Node) and isinstance(argument.meta.get("val"), torch.Tensor)


def has_form(buffer: Any, value: torch.Tensor) -> bool:
    """True if the buffer has the value's sizes, all of which are numbers, and its dtype."""
    try:
        size: Sequence[Any] = buffer.get_size()
    except NotImplementedError:  # several results of an operator, each of which has a buffer of its own
        return False
    if buffer.get_dtype() != value.dtype or not all(getattr(one, "is_Integer", type(one) is int) for one in size):
        return False
    return [int(one) for one in size] == list(value.shape)
