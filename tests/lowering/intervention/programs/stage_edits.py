"""Mistakes that a pass can make in an FX graph, Dynamo's or a later one.

Each edit yields the places of a graph where it can be made: the node that it is about, and what makes it.
"""

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor
from torch.fx import Graph, Node
from torch.utils._pytree import tree_map

aten = torch.ops.aten

Places = Iterator[tuple[Node, Callable[[], None]]]

_COPIES: Final = (aten.copy_.default,)
_CLONES: Final = (aten.clone.default, torch.clone)
_OF_TWO: Final = frozenset(
    {
        *(aten.sub.Tensor, aten.div.Tensor, aten.mm.default, aten.bmm.default, aten.pow.Tensor_Tensor),
        *(operator.sub, operator.truediv, operator.matmul, torch.sub, torch.div, torch.matmul),
    }
)
_BY_NUMBER: Final = frozenset(
    {
        *(aten.mul.Tensor, aten.add.Tensor, aten.sub.Tensor, aten.div.Tensor, aten.mul.Scalar, aten.add.Scalar),
        *(operator.mul, operator.add, operator.sub, operator.truediv, operator.imul, operator.iadd),
    }
)
_METHODS: Final = ("mul_", "add_", "sub_", "mul", "add", "sub")
_IN_PLACE: Final = (operator.iadd, operator.isub, operator.imul)


def value(node: Any) -> Any:
    return node.meta.get("val", node.meta.get("example_value")) if isinstance(node, Node) else None


def _alike(one: Any, other: Any) -> bool:
    a, b = value(one), value(other)
    return isinstance(a, Tensor) and isinstance(b, Tensor) and (a.shape, a.dtype) == (b.shape, b.dtype)


def _is_float(node: Node) -> bool:
    found = value(node)
    return isinstance(found, Tensor) and found.is_floating_point()


def _calls(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.op in ("call_function", "call_method")]


def _inputs(graph: Graph) -> list[Node]:
    return [node for node in graph.nodes if node.op == "placeholder"]


def _becomes(node: Node, other: Node) -> Callable[[], None]:
    def apply() -> None:
        node.replace_all_uses_with(other)
        node.graph.erase_node(node)

    return apply


def _is_method_in_place(node: Node) -> bool:
    name = str(node.target)
    return node.op == "call_method" and name.endswith("_") and not name.endswith("__")


def dropped_write(graph: Graph) -> Places:
    for node in _calls(graph):
        if node.target is operator.setitem or (node.target in _COPIES and not node.users):
            yield node, partial(graph.erase_node, node)
        elif _is_method_in_place(node) or node.target in (*_IN_PLACE, *_COPIES):
            yield node, _becomes(node, node.all_input_nodes[0])
        elif isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable and not node.users:
            yield node, partial(graph.erase_node, node)


def other_written(graph: Graph) -> Places:
    """Another value is written to an input."""
    for node in _calls(graph):
        at = {"copy_": 1, aten.copy_.default: 1, operator.setitem: 2, "add_": 1, "sub_": 1}.get(node.target)
        if at is None or len(node.args) <= at:
            continue
        for other in _before(graph, node):
            if other not in node.all_input_nodes and _alike(other, node.args[at]):
                yield node, partial(node.update_arg, at, other)
                break


def _before(graph: Graph, node: Node) -> list[Node]:
    """The nodes before this one, the latest first."""
    found = []
    for one in graph.nodes:
        if one is node:
            break
        found.append(one)
    return found[::-1]


def early_write(graph: Graph) -> Places:
    """What reads an input before it is changed reads it afterwards."""
    order = {node: at for at, node in enumerate(graph.nodes)}
    for node in _calls(graph):
        if not _is_write(node) or not isinstance(node.args[0], Node):
            continue
        for reader in node.args[0].users:
            made = _made_of(reader)
            moved = [one for one in graph.nodes if one in made and order[one] < order[node]]
            if moved and node not in made and not any(map(_is_write, moved)):
                yield reader, partial(_moved_behind, node, moved)


def _moved_behind(node: Node, moved: list[Node]) -> None:
    for one in moved[::-1]:
        node.append(one)


def _is_write(node: Node) -> bool:
    return node.target in (*_COPIES, *_IN_PLACE, operator.setitem) or _is_method_in_place(node)


def _made_of(node: Node) -> set[Node]:
    """The node, and those that are computed from it."""
    found, rest = {node}, [node]
    while rest:
        for user in rest.pop().users:
            if user not in found:
                found.add(user)
                rest.append(user)
    return found


def dropped_clone(graph: Graph) -> Places:
    for node in _calls(graph):
        if node.target in _CLONES or (node.op == "call_method" and node.target == "clone"):
            yield node, _becomes(node, node.all_input_nodes[0])


def returned_input(graph: Graph) -> Places:
    yield from _returned(graph, lambda: _inputs(graph))


def returned_twice(graph: Graph) -> Places:
    """A result is returned in the place of another one."""
    yield from _returned(graph, lambda: graph.output_node().all_input_nodes)


def _returned(graph: Graph, others: Callable[[], list[Node]]) -> Places:
    output = graph.output_node()
    for node in output.all_input_nodes:
        for other in others():
            if other is not node and _alike(node, other) and node.op != "placeholder":

                def apply(node: Node = node, other: Node = other) -> None:
                    output.args = tree_map(lambda one: other if one is node else one, output.args)

                yield node, apply
                break


def other_number(graph: Graph) -> Places:
    """A factor, or what is added, is a tenth larger."""
    for node in _calls(graph):
        if node.target in _BY_NUMBER or "planted" in str(node.target) or (node.op == "call_method" and node.target in _METHODS):
            for at, one in enumerate(node.args):
                if isinstance(one, (float, int)) and not isinstance(one, bool) and one:
                    yield node, partial(node.update_arg, at, one * 1.1)
                    break
        for name, one in node.kwargs.items():
            if isinstance(one, float) and one:
                yield node, partial(node.update_kwarg, name, one * 1.1)


def swapped(graph: Graph) -> Places:
    for node in _calls(graph):
        if (node.target in _OF_TWO or "planted" in str(node.target)) and len(node.args) >= 2 and _alike(node.args[0], node.args[1]):
            if node.args[0] is not node.args[1]:
                yield node, partial(setattr, node, "args", (node.args[1], node.args[0], *node.args[2:]))


def left_out(graph: Graph) -> Places:
    for node in _calls(graph):
        inputs = node.all_input_nodes
        is_view = node.target in (operator.getitem, aten.view.default, aten.expand.default)
        if len(inputs) == 1 and _is_float(node) and _alike(node, inputs[0]) and not _is_method_in_place(node):
            if node.target not in _CLONES and not is_view and node.target not in _IN_PLACE:
                yield node, _becomes(node, inputs[0])


def other_operand(graph: Graph) -> Places:
    for node in _calls(graph):
        if node.target in _COPIES or _is_method_in_place(node) or not _is_float(node):
            continue
        for at, one in enumerate(node.args):
            found = [other for other in _before(graph, node) if _alike(one, other) and other not in node.args]
            if isinstance(one, Node) and found:
                yield node, partial(node.update_arg, at, found[0])
                break


def other_result(graph: Graph) -> Places:
    """Of what a node returns together, another one is taken."""
    for node in graph.find_nodes(op="call_function", target=operator.getitem):
        made = node.args[0]
        for other in made.users if isinstance(made, Node) else ():
            if other is not node and other.target is operator.getitem and _alike(node, other):
                yield node, partial(node.update_arg, 1, other.args[1])
                break


def other_branch(graph: Graph) -> Places:
    for node in graph.find_nodes(op="call_function", target=torch.ops.higher_order.cond):
        args = node.args
        yield node, partial(setattr, node, "args", (args[0], args[2], args[1], *args[3:]))


def _behind(node: Node, make: Callable[[Node], Node]) -> Callable[[], None]:
    """What reads the node reads what `make` makes of it."""

    def apply() -> None:
        users = list(node.users)
        with node.graph.inserting_after(node):
            made = make(node)
        for user in users:
            user.replace_input_with(node, made)

    return apply


def _wide(graph: Graph) -> list[Node]:
    found = [node for node in _calls(graph) if _is_float(node) and value(node).dtype is torch.float32]
    return [node for node in found if node.users and not _is_method_in_place(node) and node.target not in _COPIES]


def slightly_larger(graph: Graph) -> Places:
    """A value in float32 times 1.004."""

    def times(node: Node) -> Node:
        is_aten = "val" in node.meta
        made = node.graph.call_function(aten.mul.Tensor if is_aten else operator.mul, (node, 1.004))
        made.meta = dict(node.meta)
        return made

    for node in _wide(graph):
        yield node, _behind(node, times)


def narrowed(graph: Graph) -> Places:
    """A value in float32 is rounded to bfloat16."""

    def round_trip(node: Node) -> Node:
        convert = torch.ops.prims.convert_element_type.default
        made = node
        for dtype in (torch.bfloat16, torch.float32):
            with node.graph.inserting_after(made):
                if "val" in node.meta:
                    after = node.graph.call_function(convert, (made, dtype))
                else:
                    after = node.graph.call_method("to", (made, dtype))
            after.meta = dict(node.meta)
            name = "val" if "val" in node.meta else "example_value"
            after.meta[name] = value(node).to(dtype)
            made = after
        return made

    for node in _wide(graph):
        yield node, _behind(node, round_trip)


class Edit(NamedTuple):
    places: Callable[[Graph], Places]
    only_wide: bool = False
    """For programs that compute in float32 within bfloat16."""


EDITS: Final = {
    "slightly larger": Edit(slightly_larger, only_wide=True),
    "narrowed": Edit(narrowed, only_wide=True),
    "dropped write": Edit(dropped_write),
    "early write": Edit(early_write),
    "other value written": Edit(other_written),
    "dropped clone": Edit(dropped_clone),
    "other branch": Edit(other_branch),
    "other result": Edit(other_result),
    "returned input": Edit(returned_input),
    "returned twice": Edit(returned_twice),
    "other number": Edit(other_number),
    "swapped": Edit(swapped),
    "left out": Edit(left_out),
    "other operand": Edit(other_operand),
}
