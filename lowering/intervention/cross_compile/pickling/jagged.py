"""Jagged tensors among the inputs of a graph: several sequences, as plain tensors and one symbol for their length."""

from dataclasses import dataclass
from typing import Any

import torch

from inspect_compile.torch_compat import targets as names


@dataclass(frozen=True)
class Jagged:
    """One input."""

    parts: dict[str, Any]
    """FakeTensors: values, offsets, …"""
    context: dict[str, Any]
    """What else torch keeps of it."""
    dimensions: int
    length: str
    """The symbol of its ragged size."""
    requires_grad: bool


@dataclass(frozen=True)
class Length:
    """An input that is the ragged size of another one."""

    symbol: str


def is_jagged(value: Any) -> bool:
    """Is it one?"""
    return isinstance(value, torch.Tensor) and value.is_nested and value.layout == torch.jagged


def lengths(inputs: list[Any]) -> set[str]:
    """The symbols of ragged sizes, of inputs as Dynamo saw them."""
    return {_length(value) for value in inputs if is_jagged(value)}


def taken_apart(seen: Any, requires_grad: bool) -> Jagged:
    """As Dynamo saw it, in whose mode this is called."""
    attributes, context = seen.__tensor_flatten__()
    inner = [(name, getattr(seen, name)) for name in attributes]
    parts = {name: torch.empty_strided(one.size(), one.stride(), dtype=one.dtype, device="cpu") for name, one in inner}
    return Jagged(parts, dict(context), seen.dim(), _length(seen), requires_grad)


def reduced(value: Any) -> Any:
    """How pickle keeps the hint of such a symbol; NotImplemented for anything else."""
    if isinstance(value, torch.SymInt) and isinstance(value.node, names.NESTED_INT.load()):
        return _hint, (value.node.t_id, value.node.coeff)
    if isinstance(value, names.RAGGED_VALUE.load()):  # as sympy pickles it, it knows neither afterwards
        return _value, (value._val, value._coeff)
    return NotImplemented


def _value(number: int, factor: int) -> Any:
    return names.RAGGED_VALUE.load()(number, coeff=factor)


def _hint(number: int, factor: int) -> Any:
    return torch.SymInt(names.NESTED_INT.load()(number, factor))  # type: ignore[no-untyped-call]


def together(inputs: list[Any], mode: Any) -> list[Any]:
    """The inputs, those that were taken apart whole again. One symbol is one length."""
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
    _, context = value.__tensor_flatten__()
    return str(value.size(context["ragged_idx"]).node.expr)
