"""Values that are computed from no buffer: torch writes their code into each reader, even where they have a buffer."""

from collections.abc import Iterable, Mapping, Sequence

from inspect_compile.facts import Node
from inspect_compile.graph import Id


def readers(nodes: Iterable[Node], places: Mapping[Id, Sequence[str]]) -> dict[Id, tuple[str, ...]]:
    """The places of what reads each value that is computed from no buffer and has no place of its own.

    torch does not name such a value among the origins of its readers. `nodes` are in the order of the graph; `places`
    has the operations or kernels of those that have some.
    """
    rows = list(nodes)
    made: set[Id] = set()
    for node in rows:
        key = Id.of(node)
        if node.op == "call_function" and key not in places and all(Id(node.graph, one) in made for one in node.inputs):
            made.add(key)
    found: dict[Id, tuple[str, ...]] = {}
    for node in reversed(rows):
        if Id.of(node) in made:
            keys = [Id(node.graph, user) for user in node.users]
            every = dict.fromkeys(place for key in keys for place in places.get(key) or found.get(key, ()))
            found[Id.of(node)] = tuple(every)
    return found
