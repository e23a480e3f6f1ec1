"""The difference of an FX graph before and after something ran over it."""

import bisect
import operator
from collections.abc import Iterable
from typing import Any

from inspect_compile.facts.passes import Edit
from inspect_compile.lowering.fx_nodes import argument, target_name, user_line

Snapshot = list[Any]
"""Of each node itself, target, args, kwargs, one behind the other. FX puts new objects in the place of what is edited.

A flat list: thousands of small objects at each look would call the garbage collector.
"""

_Node = tuple[Any, Any, Any, Any]
_PARTS = tuple(map(operator.attrgetter, ("target", "args", "kwargs")))
"""Read for all nodes together: graphs are looked at again and again."""
_PLAIN = (int, float, str, bool, complex, type(None))
_NAMED = frozenset({"dtype", "device", "layout", "memory_format"})


def taken(graph: Any) -> Snapshot:
    """Holds the nodes: to be let go of when the graph's stage ends."""
    nodes = list(graph.nodes)
    found: Snapshot = [None] * (4 * len(nodes))
    found[::4] = nodes
    for place, part in enumerate(_PARTS, 1):
        found[place::4] = map(part, nodes)
    return found


def difference(old: Snapshot, new: Snapshot) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    """Nodes that were added, removed or changed; and the fewest that have moved.

    Most edits are few nodes next to each other: what is alike before and behind them is not looked at again.
    """
    start = _alike(old, new)
    if start == len(old) == len(new):
        return (), ()
    end = min(_alike(reversed(old), reversed(new)), min(len(old), len(new)) - start)
    return _edits(_by_name(old[start : len(old) - end]), _by_name(new[start : len(new) - end]))


def _alike(old: Iterable[Any], new: Iterable[Any]) -> int:
    """How long both are the same objects, in whole nodes."""
    found = list(map(operator.is_, old, new))
    count = found.index(False) if False in found else len(found)
    return count - count % 4


def _by_name(snapshot: Snapshot) -> dict[str, _Node]:
    parts = (snapshot[start::4] for start in range(4))
    return {found[0].name: found for found in zip(*parts, strict=True)}


def _edits(old: dict[str, _Node], new: dict[str, _Node]) -> tuple[tuple[Edit, ...], tuple[str, ...]]:
    edits = [
        Edit("removed", name, before=_text(was), where=user_line(was[0]))
        for name, was in old.items()
        if name not in new
    ]
    for name, now in new.items():
        before = old.get(name)
        if before is None:
            edits.append(Edit("added", name, after=_text(now), where=user_line(now[0])))
        elif before[1] is not now[1] or not (_same(before[2], now[2]) and _same(before[3], now[3])):
            edits.append(Edit("changed", name, _text(before), _text(now), user_line(now[0])))
    was, is_now = [name for name in old if name in new], [name for name in new if name in old]
    return tuple(edits), () if was == is_now else _moved(was, is_now)


def _text(entry: _Node) -> str:
    node, target, args, kwargs = entry
    if node.op in ("placeholder", "get_attr"):
        return f"{node.op} {target}"
    texts = [argument(value) for value in args] + [f"{key}={argument(value)}" for key, value in kwargs.items()]
    return f"{'output' if node.op == 'output' else target_name(target)}({', '.join(texts)})"


def _same(one: Any, other: Any) -> bool:
    """Symbolic numbers are compared by identity: to ask whether they are equal would install a guard."""
    if one is other:
        return True
    kind: Any = type(one)
    if kind is not type(other):
        return False
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, slice):
        return _same((one.start, one.stop, one.step), (other.start, other.stop, other.step))
    if isinstance(one, _PLAIN) or kind.__name__ in _NAMED:
        return bool(one == other)
    return hasattr(one, "op") and hasattr(one, "meta") and one.name == other.name


def _moved(before: list[str], after: list[str]) -> tuple[str, ...]:
    """All but a longest run of names that both orders have in the same order (Schensted, 1961)."""
    position = {name: index for index, name in enumerate(before)}
    ends: list[int] = []
    """Of the runs of each length: the least position that one ends with."""
    lengths = []
    for name in after:
        length = bisect.bisect_left(ends, position[name])
        ends[length : length + 1] = [position[name]]
        lengths.append(length)
    wanted = len(ends) - 1
    kept = set()
    for name, length in zip(reversed(after), reversed(lengths), strict=True):
        if length == wanted:
            kept.add(name)
            wanted -= 1
    return tuple(name for name in after if name not in kept)
