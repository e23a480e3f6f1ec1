"""Which FX node the statements of a kernel do not compute, though each computes its operation."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

import torch
from torch.fx import GraphModule, Node

from inspect_compile.facts import StatementValue
from inspect_compile.knowledge.numerics.formats import EPSILON
from inspect_compile.knowledge.numerics.statements import NODE_ROUNDINGS, is_wrong
from inspect_compile.lowering.intervention.numerics.statements.evaluated import Evaluated

_NO_RESULT: Final = ("load", "constant", "index_expr", "to_dtype")
"""Operations that prepare what others compute a node from."""
_DTYPE: Final = "float32"
"""The dtype of which roundings are counted."""
_CONVERTS: Final = torch.ops.prims.convert_element_type.default


class NotComputed(NamedTuple):
    """A node, and the first statement with which that is seen."""

    line: int
    node: str
    is_absent: bool
    """No statement is the node's: another value is read in its place, as of two nodes that were lowered to the same."""


class Slack(NamedTuple):
    """By how much the statements' value of a node may be another one than the node's."""

    roundings: float
    of_largest: float
    """A part of the node's largest element."""


HALF: Final = Slack(NODE_ROUNDINGS, 1e-3)
"""In a kernel that may round values on the way to a half type."""
SINGLE: Final = Slack(1024.0, 1e-6)
"""In one that computes all in float32."""


class Graph(NamedTuple):
    """The graph of the nodes, for one launch."""

    module: GraphModule
    sources: Collection[str]
    """The nodes whose values are there before: those that the launch got, and those of its other loops."""
    exact_of: Callable[[str], Any]
    """The value of a node in fp64, from those that the launch got."""
    slack: Slack = HALF

    def exact(self, name: str) -> torch.Tensor | None:
        """The same; None if it is not a tensor of floating point numbers."""
        found = self.exact_of(name)
        return found if isinstance(found, torch.Tensor) and found.is_floating_point() else None


def not_computed(
    found: Sequence[Evaluated], own: Any, graph: Graph, place: tuple[int, ...], size: tuple[int, ...]
) -> NotComputed | None:
    """The first node in the order of the statements that the body `own` does not compute.

    A node of the result's shape, `size`, is compared by the element at `place`; of another one, or if `place` is empty,
    the statement's value is to be some element. Only what is computed for that element alone is compared, without what
    a loop adds up.
    """
    rows = [one.row for one in found if one.body is own and one.is_floating and one.row.node]
    elsewhere = {one.row.node for one in found} - {row.node for row in rows}
    graph = graph._replace(sources={*graph.sources, *elsewhere})
    last = {row.node: row for row in rows if row.operator not in _NO_RESULT}
    last = {node: row for node, row in last.items() if row.operator and not row.operator.startswith("reduction")}
    for node, row in last.items():
        exact = graph.exact(node)
        if exact is None:
            continue
        is_at_place = bool(place) and tuple(exact.shape) == size
        if _is_apart(row, exact[place] if is_at_place else exact, exact, graph.slack):
            before = _before(rows, last, node, graph, exact.size(), place) if is_at_place else None
            return before or NotComputed(row.line, node, False)
    return None


def _is_apart(row: StatementValue, due: torch.Tensor, exact: torch.Tensor, slack: Slack) -> bool:
    """True if the value is none of the elements `due` of the node's value `exact`."""
    if not due.numel():
        return False
    value, flat = float(row.value), due.reshape(-1)
    nearest = float(flat[(flat - value).abs().nan_to_num(torch.inf).argmin()])
    largest = float(exact.abs().nan_to_num(0, 0, 0).max())
    operands = largest * slack.of_largest / EPSILON[_DTYPE]
    return is_wrong(value, nearest, _DTYPE, operands=operands, roundings=slack.roundings)


def _before(
    rows: Sequence[StatementValue],
    last: Mapping[str, StatementValue],
    node: str,
    graph: Graph,
    size: torch.Size,
    place: tuple[int, ...],
) -> NotComputed | None:
    """The first node that `node`, of this `size`, is computed from, element by element, whose value at `place` its last
    statement does not have, or no statement if none is its own. What is before a right value is not looked at.
    """
    known = {row.node for row in rows}
    found: dict[Node, NotComputed] = {}
    nodes = {one.name: one for one in graph.module.graph.nodes}
    reached = {nodes[node]}
    rest = [nodes[node]] if _is_by_element(nodes[node]) else []
    while rest:
        for one in rest.pop().all_input_nodes:
            exact = graph.exact(one.name) if one.name not in graph.sources and one not in reached else None
            if exact is None or not _is_by_element(one) or not _spreads(exact.shape, size):
                continue
            due = exact.expand(size)[place]
            if one.name in last and not _is_apart(last[one.name], due, exact, graph.slack):
                continue
            if one.name in last:
                found[one] = NotComputed(last[one.name].line, one.name, False)
            elif one.name not in known and all(_is_other(row, float(due)) for row in rows):
                found[one] = NotComputed(last[node].line, one.name, True)
            reached.add(one)
            rest.append(one)
    return next((found[one] for one in graph.module.graph.nodes if one in found), None)


def _is_other(row: StatementValue, due: float) -> bool:
    return is_wrong(float(row.value), due, _DTYPE, roundings=NODE_ROUNDINGS)


def _is_by_element(node: Node) -> bool:
    return node.target is _CONVERTS or torch.Tag.pointwise in getattr(node.target, "tags", ())


def _spreads(shape: torch.Size, size: torch.Size) -> bool:
    """True if a tensor of this shape can be seen as one of that size."""
    fits = all(one in (1, other) for one, other in zip(reversed(shape), reversed(size), strict=False))
    return len(shape) <= len(size) and fits
