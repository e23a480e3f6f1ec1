"""FLOPs of one FX node: torch's own formulas where torch has one, the conventions of `knowledge.flops` for the rest."""

import functools
import math
from typing import Any

from inspect_compile.knowledge import flops as conventions
from inspect_compile.lowering import values
from inspect_compile.lowering.fx_nodes import target_name
from inspect_compile.lowering.scopes import torch_object
from inspect_compile.torch_compat import inductor as names


class _NoHintError(Exception):
    """A size without a hint."""


class _Shape(tuple[int, ...]):
    """A tensor's shape, where a formula wants a shape and where it wants a tensor to ask for one."""

    @property
    def shape(self) -> "_Shape":
        return self


def _shapes(value: Any) -> Any:
    """The arguments of a formula: tensors as tuples of ints, nodes as their values."""
    if hasattr(value, "meta") and hasattr(value, "op"):
        return _shapes(value.meta.get("val"))
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        found = values.hints(value.shape)
        if found is None:
            raise _NoHintError
        return _Shape(found)
    if isinstance(value, (tuple, list)):
        return [_shapes(item) for item in value] if isinstance(value, list) else tuple(_shapes(item) for item in value)
    if hasattr(value, "node"):
        found_hint = values.hint(value)
        if found_hint is None:
            raise _NoHintError
        return found_hint
    return value


def count(node: Any) -> tuple[int, str]:
    """FLOPs of a call_function node, and their kind.

    (0, "none") for what computes nothing, (0, "unknown") where a size has no hint. torch's formulas get shapes
    here, not tensors: with symbolic sizes they would compare a tensor's shape, and that installs guards.
    """
    if node.op != "call_function":
        return 0, "none"
    try:
        return _count(node)
    except _NoHintError:
        return 0, "unknown"


def _count(node: Any) -> tuple[int, str]:
    packet = getattr(node.target, "overloadpacket", node.target)
    formula = (torch_object(names.FLOP_REGISTRY) or {}).get(packet)
    name, kind = (_known if hasattr(node.target, "overloadpacket") else _looked_up)(node.target)
    if formula is not None:
        keywords = {key: _shapes(value) for key, value in node.kwargs.items()}
        output = _shapes(node.meta.get("val"))
        try:
            return int(formula(*_shapes(tuple(node.args)), **keywords, out_val=output)), conventions.heavy_kind(name)
        except (AttributeError, AssertionError, TypeError, ValueError):
            return 0, "unknown"  # a formula that asks for more than shapes (nested tensors)
    if name in conventions.ATTENTION_ON_CPU:
        return conventions.attention(name, _shapes(tuple(node.args))), "attention"
    if name in conventions.MATMUL_LIKE:
        return conventions.matmul(name, _shapes(tuple(node.args))), "matmul"
    if kind == "pointwise":
        return _elements(_shapes(node.meta.get("val"))), kind
    if kind == "reduction":
        first = next((value for value in _shapes(tuple(node.args)) if isinstance(value, _Shape)), None)
        return (0 if first is None else math.prod(first)), kind
    return 0, kind


def _looked_up(target: Any) -> tuple[str, str]:
    """An operator's name, and its kind where torch has no formula for it."""
    name = conventions.operator_name(target_name(getattr(target, "overloadpacket", target)))
    tags = {str(tag).rsplit(".", 1)[-1] for tag in getattr(target, "tags", ())}
    return name, conventions.light_kind(name, is_pointwise="pointwise" in tags, is_view=_is_view(target))


_known = functools.lru_cache(maxsize=4096)(_looked_up)
"""Of operators, which live as long as torch does; a function in a graph might keep tensors alive."""


def _is_view(target: Any) -> bool:
    schema = getattr(target, "_schema", None)
    returns = getattr(schema, "returns", ())
    return any(value.alias_info is not None and not value.alias_info.is_write for value in returns)


def _elements(output: Any) -> int:
    if isinstance(output, _Shape):
        return math.prod(output)
    if isinstance(output, (tuple, list)):
        return sum(_elements(item) for item in output if item is not None)
    return 0
