"""Tensors of a class made of other tensors, such as DTensor, taken apart for pickling: their parts, and the rest."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from inspect_compile.torch_compat import targets as names


@dataclass(frozen=True)
class Wrapped:
    """Such a tensor in parts."""

    kind: type
    parts: dict[str, Any]
    """What it is made of, by attribute: inputs, as `packed` sends them, and objects that are no tensors."""
    context: Any
    """The rest of what `__tensor_flatten__` returns."""
    size: tuple[Any, ...]
    stride: tuple[Any, ...]
    requires_grad: bool
    is_parameter: bool


def is_wrapped(value: Any) -> bool:
    """Whether an input is made of other tensors."""
    return isinstance(value, torch.Tensor) and bool(names.IS_WRAPPER.load()(value))


def taken_apart(value: Any, seen: Any, part: Callable[[Any, Any], Any]) -> Wrapped:
    """The parts of a tensor: `value` is the real one, `seen` what Dynamo saw; `part` does that for a part."""
    attributes, context = seen.__tensor_flatten__()
    parts = {name: part(getattr(value, name), getattr(seen, name)) for name in attributes}
    size, stride = tuple(seen.size()), tuple(seen.stride())
    return Wrapped(type(seen), parts, context, size, stride, value.requires_grad, isinstance(value, torch.nn.Parameter))


def whole(wrapped: Wrapped, part: Callable[[Any], Any]) -> Any:
    """The inverse; `part` makes a part whole."""
    parts = {name: part(one) for name, one in wrapped.parts.items()}
    made: Any = wrapped.kind.__tensor_unflatten__(parts, wrapped.context, wrapped.size, wrapped.stride)  # type: ignore[attr-defined]
    made = made.detach().requires_grad_(wrapped.requires_grad)
    return torch.nn.Parameter(made, wrapped.requires_grad) if wrapped.is_parameter else made
