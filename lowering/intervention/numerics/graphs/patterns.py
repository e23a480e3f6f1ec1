"""What a pattern stood for that torch lowers as one: the FX nodes, which it erases as it puts a function of IR in their
place.
"""

import importlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_aggregate

from inspect_compile.probe import let_pass, replace
from inspect_compile.torch_compat.passes import LOWERING_PATTERN

_STANDS_FOR: Final = "_inspect_compile_stands_for"
"""Attribute of the function: it goes where copies of the graph go."""


class Pattern(NamedTuple):
    """The nodes that matched."""

    module: GraphModule
    positions: tuple[int, ...]
    """Which leaves of the arguments of the node in their place are its inputs."""

    def run(self, args: Any, kwargs: Any) -> Any:
        """Their value, from the arguments of that node."""
        given = leaves([args, kwargs])
        return self.module(*(given[at] for at in self.positions))


def pattern_of(node: Node) -> Pattern | None:
    """What the node stands for; None if it is no such node."""
    found = vars(node.target).get(_STANDS_FOR) if hasattr(node.target, "__dict__") else None
    return found if isinstance(found, Pattern) else None


def install(is_on: Callable[[], bool]) -> None:
    """Remember from now on the nodes of patterns, while `is_on`."""

    def watched(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def apply(entry: Any, match: Any, graph: Graph, node: Node) -> Any:
            found = _matched(match, graph, node) if is_on() else None
            result = plain(entry, match, graph, node)
            for one in graph.nodes if found is not None else ():
                if any(each is match for each in getattr(one.target, "args", ())):
                    setattr(one.target, _STANDS_FOR, found)
            return result

        return apply

    replace(importlib.import_module(LOWERING_PATTERN.module), LOWERING_PATTERN, watched)


def _matched(match: Any, graph: Graph, node: Node) -> Pattern | None:
    try:
        given = leaves([tuple(match.args), match.kwargs])
        matched = set(match.nodes)
        made: dict[Node, Node] = {}
        own, positions = Graph(), []
        inputs = dict.fromkeys(each for one in match.nodes for each in one.all_input_nodes if each not in matched)
        for each in inputs:
            made[each] = own.placeholder(each.name)
            positions.append(next(at for at, leaf in enumerate(given) if leaf is each))
        for each in graph.nodes:
            if each in matched:
                made[each] = own.node_copy(each, made.__getitem__)
        own.output(made[node])
        return Pattern(GraphModule(graph.owning_module or torch.nn.Module(), own), tuple(positions))
    except Exception as error:
        let_pass(error)
        return None


def leaves(value: Any) -> list[Any]:
    """What is in lists, tuples and dictionaries."""
    found: list[Any] = []
    map_aggregate(value, found.append)
    return found
