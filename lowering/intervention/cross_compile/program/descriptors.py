"""Descriptors for bulk copies among the arguments of a Triton kernel."""

import sys
from typing import Any


def plain(arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """With the tensors that descriptors for bulk copies describe, and apart what else a descriptor holds.

    So they stand in a graph.
    """
    descriptor = getattr(sys.modules.get("triton.tools.tensor_descriptor"), "TensorDescriptor", ())
    found = {name: value for name, value in arguments.items() if isinstance(value, descriptor)}
    described = {name: ("stable", (list(value.block_shape),)) for name, value in found.items()}
    return {**arguments, **{name: value.base for name, value in found.items()}}, described
