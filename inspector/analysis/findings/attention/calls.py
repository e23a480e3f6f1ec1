"""Attention in the graphs of Dynamo: scaled_dot_product_attention, and what a program writes in its place."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from inspect_compile.analysis.findings.attention import einsum
from inspect_compile.facts import DynamoNode, Tensor
from inspect_compile.knowledge.kernels.attention import Call
from inspect_compile.knowledge.kernels.parameters import split_arguments

_OPERATOR: Final = "scaled_dot_product_attention"
_PARAMETERS: Final = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
_PRODUCTS: Final = frozenset(("matmul", "bmm", einsum.EINSUM))
_SOFTMAX: Final = "softmax"
_LAST: Final = -1
_SWAPS: Final = frozenset(("transpose", "swapaxes", "swapdims", "permute", "mT"))
_MASKS: Final = frozenset(("add", "iadd", "masked_fill", "masked_fill_", "where"))
"""What a mask does, which is its other tensor."""
_SCALES: Final = frozenset(("mul", "imul", "truediv", "itruediv", "div", "to", "float", "half", "bfloat16", "type_as"))
_DROPOUT: Final = "dropout"
_BEHIND: Final = frozenset((_DROPOUT, "to", "float", "half", "bfloat16", "type_as"))
"""What may stand between the softmax and the product with the values."""
_MOST: Final = 8
"""Steps between a product and the softmax."""
_PARTS: Final = 2
_MATRIX: Final = 2
"""Axes of a matrix."""


class Attention(NamedTuple):
    """One computation of attention."""

    call: Call
    """As it is called, or as scaled_dot_product_attention would have to be: without what only the compile knows."""
    nodes: tuple[DynamoNode, ...]
    """Dynamo's nodes of it, the last one that of its result."""
    is_by_hand: bool
    masks: tuple[DynamoNode, ...] = ()


def of_graph(nodes: Mapping[str, DynamoNode]) -> Iterator[Attention]:
    """The attention in one graph of Dynamo's, nested graphs apart: name → node."""
    for node in nodes.values():
        found = None
        if _name(node) == _OPERATOR:
            found = _called(node, nodes)
        elif _name(node) == _SOFTMAX:
            found = _written(node, nodes)
        if found is not None:
            yield found


def _called(node: DynamoNode, nodes: Mapping[str, DynamoNode]) -> Attention | None:
    given: dict[str, str] = {}
    for place, argument in enumerate(split_arguments(node.arguments)):
        name, is_named, value = argument.partition("=")
        if is_named:
            given[name.strip()] = value.strip()
        elif place < len(_PARAMETERS):
            given[_PARAMETERS[place]] = argument
    tensors = [_tensor(given.get(name, ""), nodes) for name in _PARAMETERS[:3]]
    query, key, value_ = tensors
    if query is None or key is None or value_ is None:
        return None
    mask = _node(given.get("attn_mask", ""), nodes)
    return Attention(
        Call(
            query,
            key,
            value_,
            mask.values[0] if mask is not None and mask.values else None,
            has_dropout=given.get("dropout_p", "0.0") not in ("0", "0.0"),
            groups=given.get("enable_gqa") == "True",
        ),
        (node,),
        is_by_hand=False,
        masks=() if mask is None else (mask,),
    )


def _written(softmax: DynamoNode, nodes: Mapping[str, DynamoNode]) -> Attention | None:
    """Attention around a softmax whose scores and weights nothing else reads; None if there is none."""
    if not softmax.values or not _is_over_rows(softmax):
        return None
    before, masks = [softmax], []
    while _name(before[-1]) not in _PRODUCTS:
        tensors = [one for name in before[-1].inputs if (one := nodes.get(name)) is not None and one.values]
        whole = [one for one in tensors if one.values[0].size == softmax.values[0].size and len(one.users) == 1]
        if not whole or len(before) > _MOST:
            return None
        step, others = whole[0], [one for one in tensors if one is not whole[0]]
        if before[-1] is not softmax and not _is_step(before[-1], others):
            return None
        masks += others
        before.append(step)
    after, has_dropout, is_turned = [softmax], False, False
    while True:
        reader = nodes.get(after[-1].users[0]) if len(after[-1].users) == 1 else None
        if reader is None or len(after) > _MOST:
            return None
        after.append(reader)
        if (name := _name(reader)) in _PRODUCTS:
            break
        if name in _SWAPS and _is_matrix_swapped(reader, after[-2]):
            is_turned = not is_turned
        elif name not in _BEHIND:
            return None
        has_dropout |= (
            name == _DROPOUT and "training=False" not in reader.arguments and ", False" not in reader.arguments
        )
    multiplied = _scores(before[-1], nodes)
    value = _value(after[-1], after[-2].name, nodes, is_turned=is_turned)
    if multiplied is None or value is None:
        return None
    call = Call(
        *multiplied,
        value,
        masks[0].values[0] if masks else None,
        has_dropout=has_dropout,
    )
    if len({len(tensor.size) for _, tensor in call.named}) > 1 or len(call.query.size) <= _MATRIX:
        return None
    return Attention(call, (*reversed(before), *after[1:]), is_by_hand=True, masks=tuple(masks))


def _scores(product: DynamoNode, nodes: Mapping[str, DynamoNode]) -> tuple[Tensor, Tensor] | None:
    """The query and the key that are multiplied."""
    first, second = _operands(product, nodes)
    if first is None or second is None:
        return None
    both = first.values[0], second.values[0]
    return einsum.scores(product, both) if _name(product) == einsum.EINSUM else (both[0], _turned(both[1]))


def _value(product: DynamoNode, weights: str, nodes: Mapping[str, DynamoNode], *, is_turned: bool) -> Tensor | None:
    """What is multiplied with the weights; `is_turned`: they have a row for each key."""
    first, second = _operands(product, nodes)
    if first is None or second is None or (first.name == weights) == (second.name == weights):
        return None
    is_second = second.name == weights
    both = first.values[0], second.values[0]
    if _name(product) == einsum.EINSUM:
        return None if is_turned else einsum.value(product, both, is_second=is_second)
    if is_second != is_turned:
        return None
    return _turned(both[0]) if is_turned else both[1]


def _is_step(node: DynamoNode, others: list[DynamoNode]) -> bool:
    """True for a scale, another dtype or a mask: what scaled_dot_product_attention can do to its scores."""
    name = _name(node)
    if name in _SCALES:
        return not others or all(not one.values[0].size for one in others)
    return name in _MASKS and len(others) == 1


def _is_over_rows(softmax: DynamoNode) -> bool:
    axes = len(softmax.values[0].size)
    arguments = split_arguments(softmax.arguments)
    axis = next((one.rpartition("=")[2] for one in arguments[1:] if "=" not in one or one.startswith("dim=")), "")
    return axis.strip() in (str(_LAST), str(axes - 1))


def _is_matrix_swapped(node: DynamoNode, of: DynamoNode) -> bool:
    """True if the last two axes have changed places, and no other."""
    if not node.values or not of.values:
        return False
    return node.values[0] == _turned(of.values[0])


def _turned(tensor: Tensor) -> Tensor:
    size, stride = tensor.size, tensor.stride
    return msgspec.structs.replace(
        tensor, size=(*size[:-2], *reversed(size[-2:])), stride=(*stride[:-2], *reversed(stride[-2:]))
    )


def _operands(
    product: DynamoNode, nodes: Mapping[str, DynamoNode]
) -> tuple[DynamoNode, DynamoNode] | tuple[None, None]:
    """Both operands of a product of tensors with at least two axes."""
    found = [nodes.get(name) for name in product.inputs]
    first, second = found if len(found) == _PARTS else (None, None)
    if first is None or second is None:
        return None, None
    if any(not one.values or len(one.values[0].size) < _MATRIX or not one.values[0].stride for one in (first, second)):
        return None, None
    return first, second


def _name(node: DynamoNode) -> str:
    """`softmax` for a function or method of that name; empty for an input."""
    return node.target.rpartition(".")[2] if node.op in ("call_function", "call_method") else ""


def _node(argument: str, nodes: Mapping[str, DynamoNode]) -> DynamoNode | None:
    return nodes.get(argument.removeprefix("%")) if argument.startswith("%") else None


def _tensor(argument: str, nodes: Mapping[str, DynamoNode]) -> Tensor | None:
    node = _node(argument, nodes)
    return node.values[0] if node is not None and node.values else None
