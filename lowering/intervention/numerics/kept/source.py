"""Nodes of an FX graph as the source of a Python function that needs nothing but torch."""

import ast
import builtins
import math
import operator
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_aggregate

from inspect_compile.lowering.intervention.numerics.graphs.in_fp64 import raised
from inspect_compile.lowering.intervention.numerics.graphs.nodes import changed_arguments, is_random, without_form
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference
from inspect_compile.torch_compat.compilers import OPERATOR

_NAMESPACES: Final = ("aten", "prims", "inductor", "_quantized", "quantized", "mkldnn", "onednn")
"""Operators that torch itself defines."""
_MODULES: Final = (builtins, math, operator, torch)
_CLONE: Final = torch.ops.aten.clone.default
_FREED: Final = re.compile(r";  [\w= ]+ = None$", re.MULTILINE)
_HEAD: Final = re.compile(r"def forward\(self(?:, )?")
_KNOWN: Final = frozenset({"torch", "device", "inf", "nan", "math"})
"""Names that the functions may use."""


class Functions(NamedTuple):
    """Functions that compute one node."""

    reference: str
    """In its dtypes."""
    exact: str
    """In fp64."""
    arguments: dict[str, Any]
    """Their arguments, in order."""


class NotPlainError(Exception):
    """Why there are no such functions."""


def functions(module: GraphModule, plain: Reference, given: Mapping[str, Any], node: str) -> Functions:
    """Functions that compute `node` from `given` and from the graph's inputs.

    `given`: nodes → their values. Other values are taken from `plain`, as fp64 values are computed from there. Raises
    NotPlainError.
    """
    nodes = {each.name: each for each in module.graph.nodes}
    needed = _needed(nodes, plain, given, node)
    arguments: dict[str, Any] = {}
    texts = [_printed(name, needed, plain, given, arguments, wide=wide) for name, wide in _KINDS]
    return Functions(texts[0], texts[1], arguments)


_KINDS: Final = (("reference", False), ("exact", True))


def _needed(nodes: Mapping[str, Node], plain: Reference, given: Mapping[str, Any], node: str) -> list[Node]:
    """The nodes between, and those that they begin with, in graph order."""
    found: set[str] = set()
    waiting = [nodes[node]]
    while waiting:
        each = waiting.pop()
        if each.name in found:
            continue
        found.add(each.name)
        if not _is_given(each, given):
            _check(each)
            waiting += [one for one in each.all_input_nodes if (each.name, one.name) not in plain.late]
    return [each for name, each in nodes.items() if name in found]


def _is_given(node: Node, given: Mapping[str, Any]) -> bool:
    return node.name in given or node.op in ("placeholder", "get_attr") or is_random(node)


def _check(node: Node) -> None:
    """Raises NotPlainError if the call of this node can't be written down for plain torch."""
    reason = without_form(node)
    target: Any = node.target
    if not reason and isinstance(target, OPERATOR.load()):
        if target.namespace not in _NAMESPACES:
            reason = f"{target} is not an operator of torch"
    elif not reason and not any(getattr(one, target.__name__, None) is target for one in _MODULES):
        reason = f"{target.__name__} is not a public function"
    if reason:
        raise NotPlainError(f"{node.name}: {reason}")


def _printed(
    name: str,
    needed: list[Node],
    plain: Reference,
    given: Mapping[str, Any],
    arguments: dict[str, Any],
    *,
    wide: bool,
) -> str:
    graph = Graph()
    made: dict[Node, Node] = {}
    late: dict[tuple[str, str], Node] = {}

    def argument(called: str, value: Any) -> Node:
        arguments[called] = value
        return graph.placeholder(called)

    for node in needed:
        if _is_given(node, given):
            made[node] = argument(node.name, given.get(node.name, plain.values.get(node.name)))
    for node in needed:
        for one in node.all_input_nodes:
            pair = node.name, one.name
            if not _is_given(node, given) and pair in plain.late:
                late[pair] = argument(f"{one.name}_before_{node.name}", plain.late[pair])
    for node in needed:
        if node in made:
            continue

        def old(one: Node, node: Node = node) -> Node:
            return late.get((node.name, one.name)) or made[one]

        args: Any = torch.fx.node.map_arg(node.args, old)
        kwargs: Any = torch.fx.node.map_arg(node.kwargs, old)
        if wide:
            args, kwargs = map_aggregate(args, raised), map_aggregate(kwargs, raised)
        changed = changed_arguments(node)
        args = tuple(
            graph.call_function(_CLONE, (one,)) if at in changed and isinstance(one, Node) else one
            for at, one in enumerate(args)
        )
        made[node] = graph.create_node("call_function", node.target, args, kwargs, name=node.name)
    graph.output(made[needed[-1]])
    text = _HEAD.sub(f"def {name}(", _FREED.sub("", graph.python_code("self").src), count=1).strip() + "\n"
    names = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Name)]
    known = {each.id for each in names if isinstance(each.ctx, ast.Store)} | arguments.keys() | _KNOWN
    if strange := sorted({each.id for each in names} - known):
        raise NotPlainError(f"{needed[-1].name}: it needs {', '.join(strange)}")
    return text
