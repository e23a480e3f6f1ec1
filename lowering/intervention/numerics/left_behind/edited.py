"""Where an edit of a graph begins that made a result, or an input that the graph changes, another function."""

import operator
from collections.abc import Callable, Sequence
from typing import Final

from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.verdicts import SAME_IN_FP64
from inspect_compile.lowering.core.fx_nodes import target_name, user_line
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.mutations import copied_by
from inspect_compile.lowering.intervention.numerics.graphs.nodes import changed_values, inputs_of, results_of, viewed
from inspect_compile.lowering.intervention.numerics.levels import Level, text_of
from inspect_compile.lowering.intervention.numerics.results import Place
from inspect_compile.probe import let_pass

_IN_PLACE: Final = (operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.setitem)
"""What Dynamo's graph calls to change its first argument."""
_WIDE: Final = ("float32", "float64")


def with_edit(row: Checked, before: GraphModule, after: GraphModule, *places: Place) -> Checked:
    """`row`, with the node at which the edit begins that made `after` of `before`, as far as what is at these places is
    concerned; no place if none is known. As it was if no node is found, or one of several.
    """
    try:
        node = _begins(before, after, places)
    except Exception as error:
        let_pass(error)
        node = None
    if node is None:
        return row
    # A node that a pass inserts may have no line of its own, and read nothing but a size.
    source = next(filter(None, map(user_line, (node, *node.all_input_nodes, *node.users))), None)
    return with_fields(row, source=node.name, operator=target_name(node.target), where=source)


def by_edit(row: Checked, before: Level, after: Level, *places: Place) -> Checked:
    """`row` with the edit that made `after` of `before` as its level, and where that begins: see `with_edit`."""
    return with_edit(with_fields(row, level=after.name), before.module, after.module, *places)


def _begins(before: GraphModule, after: GraphModule, places: Sequence[Place]) -> Node | None:
    known: dict[str, int] = {}
    one, other = _Forms(before, known), _Forms(after, known)
    found = {_first(one, other, one.at(each), other.at(each)) for each in places or one.places()} - {None}
    return found.pop() if len(found) == 1 else None


class _Forms:
    """The nodes of a graph, each with a number for what it computes: the same one in two graphs that share `known`."""

    def __init__(self, module: GraphModule, known: dict[str, int]) -> None:
        self.module = module
        self.number: dict[Node, int] = {}
        self.inputs: dict[Node, list[Node]] = {}
        """What a node reads; of what was changed in place before it, the node that changed it last."""
        self.changed: dict[Node, list[Node]] = {}
        """What a node changes in place, and what that is a view of."""
        self._last: dict[Node, Node] = {}
        inputs = {name: at for at, name in enumerate(inputs_of(module))}
        for node in module.graph.nodes:
            self.inputs[node] = [self._last.get(one, one) for one in node.all_input_nodes]
            self.number[node] = known.setdefault(self._text(node, inputs.get(node.name, -1)), len(known))
            for changed in _changed(node):
                self.changed.setdefault(node, []).extend(viewed(changed))
            self._last |= dict.fromkeys(self.changed.get(node, ()), node)
        self.numbers = set(self.number.values())

    def places(self) -> list[Place]:
        """Of all results and inputs."""
        inputs = [Place(at, is_input=True) for at in range(len(inputs_of(self.module)))]
        return [*map(Place, range(len(results_of(self.module)))), *inputs]

    def at(self, place: Place) -> Node | None:
        """The node whose value is left at this place."""
        if place.is_input:
            names = inputs_of(self.module)
            inputs = {node.name: node for node in self.module.graph.find_nodes(op="placeholder")}
            found = inputs.get(names[place.at]) if place.at < len(names) else None
        else:
            results = results_of(self.module)
            found = results[place.at] if place.at < len(results) else None
        return self._last.get(found, found) if isinstance(found, Node) else None

    def left(self) -> list[Node]:
        """The nodes whose values are left behind: in the inputs, and in what is returned, in tuples of any depth."""
        found = list(self.module.graph.find_nodes(op="placeholder"))
        map_arg(self.module.graph.output_node().args, found.append)
        return [self._last.get(node, node) for node in found]

    def nested(self, node: Node) -> GraphModule | None:
        """The graph that a node stands for."""
        found = getattr(self.module, str(node.target), None) if node.op == "get_attr" else None
        return found if isinstance(found, GraphModule) else None

    def _text(self, node: Node, at: int) -> str:
        if node.op == "placeholder":
            return f"input {at}"
        if node.op == "get_attr":
            inner = self.nested(node)
            return f"{node.target}" if inner is None else text_of(inner)
        args = map_arg((node.args, node.kwargs), lambda one: f"#{self.number[self._last.get(one, one)]}")
        return f"{node.op} {target_name(node.target)} {args} {copied_by(node)}"


def _changed(node: Node) -> list[Node]:
    """What a node changes in place, in Dynamo's graph, too."""
    is_method = node.op == "call_method" and str(node.target).endswith("_") and not str(node.target).endswith("__")
    found = list(node.args[:1]) if is_method or node.target in _IN_PLACE else []
    found += changed_values(node) if node.op == "call_function" else []
    return [one for one in found if isinstance(one, Node)]


def _first(one: _Forms, other: _Forms, before: Node | None, after: Node | None) -> Node | None:
    """The node at which the edit begins that made `after` of `before`."""
    while before is not None and after is not None and one.number[before] != other.number[after]:
        if after in _inserted_behind(one, other, before, after):
            return after
        is_same = (before.op, target_name(before.target)) == (after.op, target_name(after.target))
        if before.op == "get_attr":
            return _first_inside(one.nested(before), other.nested(after)) or next(iter(before.users), None)
        pairs = list(zip(one.inputs[before], other.inputs[after], strict=False))
        if not is_same or len(one.inputs[before]) != len(other.inputs[after]):
            return before
        differing = [pair for pair in pairs if one.number[pair[0]] != other.number[pair[1]]]
        if not differing:
            return before
        was, now = differing[0]
        if other.number[now] in one.numbers and was.name != now.name:
            # Nothing about it is new: it is read in the place of the other one.
            is_by_it = _is_left_out(one, other, was, now) or _is_beside(one, other, was, now)
            return was if is_by_it and one.number[was] not in other.numbers else before
        before, after = was, now
    return None


def _is_left_out(one: _Forms, other: _Forms, was: Node, now: Node) -> bool:
    """True if `now` is what `was` reads, or what it changes."""
    return any(one.number[each] == other.number[now] for each in (*one.inputs[was], *one.changed.get(was, ())))


def _is_beside(one: _Forms, other: _Forms, was: Node, now: Node) -> bool:
    """True if they are two results of one node."""
    if was.target is not operator.getitem or now.target is not operator.getitem:
        return False
    return [one.number[each] for each in one.inputs[was]] == [other.number[each] for each in other.inputs[now]]


def _inserted_behind(one: _Forms, other: _Forms, before: Node, after: Node) -> list[Node]:
    """`after`, if it is new and made of nothing but what `before` computes, step by step."""
    reached = after
    while other.number[reached] not in one.numbers and len(other.inputs[reached]) == 1:
        reached = other.inputs[reached][0]
        if other.number[reached] == one.number[before]:
            return [after]
    return []


def _first_inside(before: GraphModule | None, after: GraphModule | None) -> Node | None:
    """The same of two nested graphs, of the first of what they leave behind that is another one."""
    if before is None or after is None:
        return None
    known: dict[str, int] = {}
    one, other = _Forms(before, known), _Forms(after, known)
    for was, now in zip(one.left(), other.left(), strict=False):
        found = _first(one, other, was, now)
        if found is not None:
            return found
    return None


def first_apart(count: int, apart: Callable[[int], float]) -> tuple[int, float] | None:
    """The first of `count` edits of a graph, from 1, that makes another function of a value, and how far `apart` it is
    in fp64 from that of the graph before all of them; None if it is not after the last one. A half type hides what such
    an edit changes, and fp64 does not.
    """
    if count < 1 or apart(count) <= SAME_IN_FP64:
        return None
    return next(((at, found) for at in range(1, count + 1) if (found := apart(at)) > SAME_IN_FP64), None)


def constants_of(module: GraphModule) -> set[str]:
    """What a graph holds in half types apart from its inputs: the numbers in it, and its own tensors."""
    found = set()
    for node in module.graph.nodes:
        dtype = getattr(node.meta.get("val", node.meta.get("example_value")), "dtype", None)
        is_exact = dtype is not None and (not dtype.is_floating_point or str(dtype).removeprefix("torch.") in _WIDE)
        if not is_exact and (node.op == "get_attr" or (node.op == "call_function" and not node.all_input_nodes)):
            found.add(f"{node.target} {node.args}")
    return found
