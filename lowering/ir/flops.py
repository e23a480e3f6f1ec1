"""FLOPs of one FX node: torch's formulas where there is one, the conventions in `knowledge` for the rest."""

import functools
import math
import sys
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from inspect_compile.knowledge.cost import flops as conventions
from inspect_compile.knowledge.cost import scalar_operations
from inspect_compile.lowering.core import expressions, values
from inspect_compile.lowering.core.fx_nodes import target_name
from inspect_compile.lowering.core.scopes import torch_object
from inspect_compile.probe import let_pass
from inspect_compile.torch_compat import inductor as names


class Count(NamedTuple):
    """The FLOPs of one node."""

    flops: int
    kind: str
    special: int = 0
    """The part that is transcendental functions."""
    text: str = ""
    """The count as an expression, if a size is symbolic."""


class _NoHintError(Exception):
    """A size without a hint."""


class _Shape(tuple[Any, ...]):
    """A tensor's shape, for formulas that expect a shape and for those that expect a tensor."""

    @property
    def shape(self) -> "_Shape":
        return self


Size = Callable[[Any], Any]
"""Turns a SymInt into its hint or into its expression."""


def _hint(value: Any) -> int:
    found = values.hint(value)
    if found is None:
        raise _NoHintError
    return found


def _expression(value: Any) -> Any:
    return value if type(value) is int else value.node.expr


def _shapes(value: Any, size: Size) -> Any:
    """The arguments of a formula: tensors as tuples of numbers, nodes as their values."""
    if hasattr(value, "meta") and hasattr(value, "op"):
        return _shapes(value.meta.get("val"), size)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return _Shape([length if type(length) is int else size(length) for length in value.shape])
    if isinstance(value, (tuple, list)):
        found = [_shapes(item, size) for item in value]
        return found if isinstance(value, list) else tuple(found)
    return size(value) if hasattr(value, "node") else value


def count(node: Any) -> Count:
    """FLOPs of a call_function node.

    (0, "none") if it computes nothing, (0, "unknown") if a size has no hint. torch's formulas get shapes here instead
    of tensors: with symbolic sizes they would compare a tensor's shape, which installs guards.
    """
    if node.op != "call_function":
        return Count(0, "none")
    text = ""
    if _is_symbolic(node):
        try:
            flops, kind, _ = _count(node, _expression)
            text = "" if type(flops) is int else expressions.text(flops)
        except (AttributeError, TypeError, ValueError) as error:
            let_pass(error)
    try:
        flops, kind, special = _count(node, _hint)
    except _NoHintError:
        return Count(0, "unknown", 0, text)
    return Count(int(flops), kind, int(special), text)


def _is_symbolic(node: Any) -> bool:
    """True if the output or an input tensor has a symbolic size."""
    around = [node.meta.get("val"), *[source.meta.get("val") for source in node.all_input_nodes]]
    return any(not _NUMBER.issuperset(map(type, tensor.shape)) for value in around for tensor in values.tensors(value))


_NUMBER: Final = frozenset({int})


def _count(node: Any, size: Size) -> tuple[Any, str, Any]:
    """FLOPs, their kind, and the transcendental functions among them."""
    packet = getattr(node.target, "overloadpacket", node.target)
    formula = (torch_object(names.FLOP_REGISTRY) or {}).get(packet)
    name, kind = (_known if hasattr(node.target, "overloadpacket") else _looked_up)(node.target)
    if kind == "none" and formula is None and name not in conventions.MATMUL_LIKE and not conventions.may_add(name):
        return 0, kind, 0
    if kind == "other" and formula is None and _is_of_numbers(node):
        return 0, "size", 0
    arguments = _shapes(tuple(node.args), size)
    keywords = {key: _shapes(value, size) for key, value in node.kwargs.items()}
    output = _shapes(node.meta.get("val"), size)
    if formula is not None:
        try:
            return formula(*arguments, **keywords, out_val=output), conventions.heavy_kind(name), 0
        except (AttributeError, AssertionError, TypeError, ValueError) as error:
            let_pass(error)
            return 0, "unknown", 0  # a formula that needs more than shapes (nested tensors)
    if name in conventions.ATTENTION_ON_CPU:
        return conventions.attention(name, arguments), "attention", 0
    if name in conventions.MATMUL_LIKE:
        return conventions.matmul(name, arguments), "matmul", 0
    added = conventions.added(name, arguments, keywords)
    if added is not None:
        return _elements(added), "reduction", 0
    if kind == "pointwise":
        each, elements = scalar_operations.pointwise(name, arguments, keywords), _elements(output)
    elif name in conventions.POOLS:
        each, elements = scalar_operations.reduction(name), conventions.pooled(output, arguments)
    elif kind == "reduction":
        each = scalar_operations.reduction(name)
        elements = _elements(next((value for value in arguments if isinstance(value, (_Shape, list))), None))
    else:
        return 0, kind, 0
    return each.operations * elements, kind, each.special * elements


def _looked_up(target: Any) -> tuple[str, str]:
    """An operator's name, and its kind if torch has no formula for it. What is done to each tensor of a list
    (`_foreach_add`) is counted as the operator for one (`add`).
    """
    name = conventions.operator_name(target_name(getattr(target, "overloadpacket", target)))
    of_one = conventions.of_each(name)
    if of_one:
        packet = getattr(sys.modules["torch"].ops.aten, of_one.rpartition(".")[2], None)
        name, target = of_one, packet if packet is None else getattr(packet, packet.overloads()[0])
    tags = {str(tag).rsplit(".", 1)[-1] for tag in getattr(target, "tags", ())}
    return name, conventions.light_kind(name, is_pointwise="pointwise" in tags, is_view=_is_view(target))


_known = functools.lru_cache(maxsize=4096)(_looked_up)
"""Caches operators only, which live as long as torch; a function in a graph might keep tensors alive."""


def _is_of_numbers(node: Any) -> bool:
    """True if the node computes or checks a number, including one read out of a tensor."""
    found = node.meta.get("val")
    given = [source.meta.get("val") for source in node.all_input_nodes] if found is None else [found]
    return bool(given) and all(type(value).__name__ in conventions.NUMBERS for value in given)


def _is_view(target: Any) -> bool:
    schema = getattr(target, "_schema", None)
    returns = getattr(schema, "returns", ())
    return any(value.alias_info is not None and not value.alias_info.is_write for value in returns)


def _elements(output: Any) -> Any:
    if isinstance(output, _Shape):
        return math.prod(output)
    if isinstance(output, (tuple, list)):
        return sum(_elements(item) for item in output if item is not None)
    return 0
