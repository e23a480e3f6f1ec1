"""Source lines for nodes that torch's passes create without one: inherited from the nodes they replace.

Some releases of torch copy the origin of what some patterns replace to the node that replaces it; other nodes have
none. What went away shows the origin: what the users of a new node read before, and what a pattern matched. Nodes are
never modified: names and plain values are kept here.

A name holds from the joint graph to the graphs that are lowered: AOTAutograd's partitioner keeps it.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from inspect_compile.facts import Location
from inspect_compile.lowering.core import fx_nodes
from inspect_compile.lowering.core.scopes import aot_graph_name

_NUMBERS = re.compile(r"(?<![\d_])[\d_]++(?=joint|forward|backward|inference)")
_NONE: Final[Mapping[str, "Origin"]] = {}


class Origin(NamedTuple):
    """Where in the program a node comes from."""

    where: Location
    module: str
    module_type: str
    nodes: tuple[str, ...] = ()
    """Of earlier graphs, as FX's `from_node` has them, nearest first."""


_NOWHERE: Final = Origin(Location("", 0), "", "")
_OF: Final[dict[tuple[str, str], dict[str, Origin]]] = {}
"""Compile (of AOTAutograd, or of Dynamo) and path of a nested graph → node → its origin. Only few nodes are in here."""


def aot_id(name: str) -> str:
    """The common prefix of all graphs that AOTAutograd makes from one: `model__0` of `model__0_forward_1.0`."""
    for found in _NUMBERS.finditer(name):
        numbers = found[0][:-1]
        if found[0][-1] == "_" and "__" in numbers and numbers[-1].isdigit():
            return name[: found.end() - 1]
    return name


def origins_in(key: str, nested: str = "") -> Mapping[str, Origin]:
    """The nodes of a graph that inherited an origin; `key` is an `aot_id`, or a compile id before AOTAutograd."""
    return _OF.get((key, nested), _NONE)


def forget(key: str) -> None:
    """A compile of that name starts again."""
    for known in [known for known in _OF if known[0] == key]:
        del _OF[known]


def line_of(node: Any) -> Location | None:
    """The source line of a node of an outermost graph that AOTAutograd compiles on this thread."""
    where = fx_nodes.user_line(node)
    if where is not None:
        return where
    found = origins_in(aot_id(aot_graph_name())).get(node.name)
    return None if found is None else found.where


def origin_of(node: Any, known: Mapping[str, Origin]) -> Origin | None:
    """The origin of a node, which may have been removed from its graph; `known` are the inherited origins."""
    where = fx_nodes.user_line(node)
    return (
        known.get(node.name)
        if where is None
        else Origin(where, *fx_nodes.NodeReader().module(node.meta), fx_nodes.origins(node.meta))
    )


def inherit(
    key: str, nested: str, lost: Iterable[tuple[Any, Any]], matched: Iterable[Any] = ()
) -> Mapping[str, Origin]:
    """Give origins to new nodes without one: `lost` has each with the node that its users read before, or None.

    A node that only other new ones read has the origin of what the pattern matched, else that of a new one that reads
    it. Of what a pattern matched the last counts: it gave the result. It comes from all nodes that these come from.
    """
    known = _OF.setdefault((key, nested), {})
    left = []
    for node, before in lost:
        found = origin_of(before, known) if before is not None else None
        if found is not None:
            known[node.name] = found
        else:
            left.append(node)
    if left:
        last, sources = None, dict[str, None]()
        for node in matched:
            last = origin_of(node, known) or last
            sources |= dict.fromkeys(fx_nodes.origins(node.meta) or known.get(node.name, _NOWHERE).nodes)
        last = None if last is None else last._replace(nodes=tuple(sources))
        for node in reversed(left):
            found = last or next((known[user.name] for user in node.users if user.name in known), None)
            if found is not None:
                known[node.name] = found
    if not known:
        del _OF[key, nested]
    return known


def carry_over(before: str, key: str, nodes: Iterable[Any]) -> None:
    """Copy inherited origins to a graph that was traced from another: `before` is the old graph's key, `key` the new
    one's.
    """
    known = origins_in(before)
    if not known:
        return
    for node in nodes:
        source = next(iter(fx_nodes.origins(node.meta)), "")
        if source in known and fx_nodes.user_line(node) is None:
            _OF.setdefault((key, ""), {})[node.name] = known[source]
