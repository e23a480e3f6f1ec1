"""Jagged tensors among the inputs of a graph, taken apart for pickling: plain tensors, and a symbol for the length."""

from dataclasses import dataclass
from typing import Any

import torch

from inspect_compile.torch_compat import targets as names


@dataclass(frozen=True)
class Jagged:
    """A jagged tensor in parts."""

    parts: dict[str, Any]
    """FakeTensors by attribute: values, offsets, …"""
    context: dict[str, Any]
    """The rest of what `__tensor_flatten__` returns."""
    dimensions: int
    length: str
    """Name of the symbol for its ragged size."""
    requires_grad: bool


@dataclass(frozen=True)
class Length:
    """An input that is the ragged size of another input."""

    symbol: str


def is_jagged(value: Any) -> bool:
    """Whether an input is a jagged tensor."""
    return isinstance(value, torch.Tensor) and value.is_nested and value.layout == torch.jagged


def lengths(inputs: list[Any]) -> set[str]:
    """Names of the symbols of ragged sizes in the inputs as Dynamo saw them."""
    return {_length(value) for value in inputs if is_jagged(value)}


def taken_apart(seen: Any, requires_grad: bool) -> Jagged:
    """The parts of a jagged tensor as Dynamo saw it; to be called in Dynamo's FakeTensorMode."""
    attributes, context = seen.__tensor_flatten__()
    inner = [(name, getattr(seen, name)) for name in attributes]
    parts = {name: torch.empty_strided(one.size(), one.stride(), dtype=one.dtype, device="cpu") for name, one in inner}
    return Jagged(parts, dict(context), seen.dim(), _length(seen), requires_grad)


def reduced(value: Any) -> Any:
    """For pickle's `reducer_override`: how the hint of a ragged size is pickled; NotImplemented for anything else."""
    if isinstance(value, torch.SymInt) and isinstance(value.node, names.NESTED_INT.load()):
        return _hint, (value.node.t_id, value.node.coeff)
    if isinstance(value, names.RAGGED_VALUE.load()):  # sympy would pickle it without these two
        return _value, (value._val, value._coeff)
    return NotImplemented


def _value(number: int, factor: int) -> Any:
    """Make sympy's value of a ragged size again; called by pickle."""
    return names.RAGGED_VALUE.load()(number, coeff=factor)


def _hint(number: int, factor: int) -> Any:
    """Make the hint of a ragged size again; called by pickle."""
    return torch.SymInt(names.NESTED_INT.load()(number, factor))  # type: ignore[no-untyped-call]


def together(inputs: list[Any], mode: Any) -> list[Any]:
    """The inputs with jagged tensors made whole again, in `mode`; a symbol is the same length in all of them."""
    symbols: dict[str, Any] = {}

    def length(symbol: str) -> Any:
        if symbol not in symbols:
            symbols[symbol] = names.RAGGED_SIZE.load()(mode)
        return symbols[symbol]

    def whole(value: Any) -> Any:
        if isinstance(value, Length):
            return length(value.symbol)
        if not isinstance(value, Jagged):
            return value
        size: list[Any] = [None] * value.dimensions
        size[value.context["ragged_idx"]] = length(value.length)
        made = names.NESTED.load().__tensor_unflatten__(value.parts, value.context, size, None)
        return made.requires_grad_(value.requires_grad)

    with mode:
        return [whole(value) for value in inputs]


def _length(value: Any) -> str:
    """The name of the symbol for a jagged tensor's ragged size."""
    _, context = value.__tensor_flatten__()
    return str(value.size(context["ragged_idx"]).node.expr)
