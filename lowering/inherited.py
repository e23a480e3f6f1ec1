"""The lines of nodes that torch's passes make without one: they inherit them from what they stand in the place of.

torch copies the origin of what a pattern replaces to the node that is left of it, in some of its releases and for
some of its patterns; the other nodes have none. We look at the nodes that went: what the users of a new node read
before, and what a pattern matched. Nodes are never written to: names and plain values are kept here.

A name holds from the joint graph to the graphs that are lowered: AOTAutograd's partitioner keeps it.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from inspect_compile.facts import Location
from inspect_compile.lowering import fx_nodes
from inspect_compile.lowering.scopes import aot_graph_name

_AOT_ID = re.compile(r"(.*?__[\d_]*\d)_(?:joint|forward|backward|inference)")
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
"""What AOTAutograd compiles, or Dynamo, and the path of a nested graph → node → its origin. Few nodes have one here."""


def aot_id(name: str) -> str:
    """What all graphs that AOTAutograd makes of one have in common: `model__0` of `model__0_forward_1.0`."""
    found = _AOT_ID.match(name)
    return found[1] if found else name


def origins_in(key: str, nested: str = "") -> Mapping[str, Origin]:
    """The nodes of a graph that have inherited an origin; `key` is an `aot_id`, or a compile id before AOTAutograd."""
    return _OF.get((key, nested), _NONE)


def forget(key: str) -> None:
    """A compile of that name begins anew."""
    for known in [known for known in _OF if known[0] == key]:
        del _OF[known]


def line_of(node: Any) -> Location | None:
    """The user's line of a node of an outermost graph that AOTAutograd compiles on this thread."""
    where = fx_nodes.user_line(node)
    if where is not None:
        return where
    found = origins_in(aot_id(aot_graph_name())).get(node.name)
    return None if found is None else found.where


def origin_of(node: Any, known: Mapping[str, Origin]) -> Origin | None:
    """That of a node, which may have been taken out of its graph; `known` are those that others inherited there."""
    where = fx_nodes.user_line(node)
    return (
        known.get(node.name)
        if where is None
        else Origin(where, *fx_nodes.NodeReader().module(node.meta), fx_nodes.origins(node.meta))
    )


def inherit(
    key: str, nested: str, lost: Iterable[tuple[Any, Any]], matched: Iterable[Any] = ()
) -> Mapping[str, Origin]:
    """Give origins to nodes that came without: each with the one that its users read before it, or None.

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
    """Nodes traced from a graph whose nodes had inherited origins: `before` is that graph's key, `key` their own."""
    known = origins_in(before)
    if not known:
        return
    for node in nodes:
        source = next(iter(fx_nodes.origins(node.meta)), "")
        if source in known and fx_nodes.user_line(node) is None:
            _OF.setdefault((key, ""), {})[node.name] = known[source]
