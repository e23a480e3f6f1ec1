"""The difference between an FX graph before and after something ran over it."""

import bisect
import itertools
import operator
from collections.abc import Iterable, Iterator
from typing import Any

from inspect_compile.facts.passes import Edit
from inspect_compile.lowering.core.fx_nodes import argument, target_name, user_line

Lost = tuple[tuple[Any, Any], ...]
"""Nodes that were created without a source line, each with the node that its users read before, or None."""
Edits = tuple[tuple[Edit, ...], tuple[str, ...], Lost]
"""Nodes that were added, removed or changed; a minimal set of nodes that moved; new nodes without a source line."""
_Node = tuple[Any, Any, Any, Any]
_PARTS = tuple(map(operator.attrgetter, ("target", "_args", "_kwargs")))
"""Read for all nodes together, and past the properties `args` and `kwargs`: graphs are looked at again and again."""
_MOST_USERS = 16
"""New nodes that read another new one, of which it is asked what they stand for."""
_PLAIN = (int, float, str, bool, complex, type(None))
_NAMED = frozenset({"dtype", "device", "layout", "memory_format"})


class Snapshot:
    """The nodes of a graph, with target, args and kwargs of each. FX replaces what is edited by new objects.

    Four long lists: thousands of small objects at each snapshot would trigger the garbage collector. It holds nodes,
    and must be released when the graph's stage ends.
    """

    def __init__(self, graph: Any) -> None:
        nodes = list(graph.nodes)
        self._lists = [nodes, *(list(map(part, nodes)) for part in _PARTS)]

    def __len__(self) -> int:
        return len(self._lists[0])

    def copy(self) -> "Snapshot":
        """The same, which stays as it is when this one is updated."""
        same = Snapshot.__new__(Snapshot)
        same._lists = [list(found) for found in self._lists]
        return same

    def lines(self) -> list[str]:
        """`mul = aten.mul.Tensor(%x, 2)` for each node, in order."""
        return [f"{entry[0].name} = {_text(entry)}" for entry in zip(*self._lists, strict=True)]

    def differs(self, new: "Snapshot") -> Edits:
        """The edits from this snapshot to `new`.

        Most edits affect few nodes next to each other: equal nodes before and after them are skipped.
        """
        start, end = _ends(self._lists, new._lists)
        return _edits(self._between(start, end), new._between(start, end))

    def follow(self, graph: Any, touched: Iterable[Any]) -> Edits:
        """Update this snapshot to the current `graph` and return the edits, in a fifth of the time.

        Only nodes that were added, removed or moved, and those in `touched`, may differ.
        """
        nodes = list(graph.nodes)
        start, end = _ends(self._lists[:1], [nodes])
        for node in touched:
            place = _place(nodes, node, start)
            start, end = min(start, place), min(end, len(nodes) - place - 1)
        before = self._between(start, end)
        stop, new_stop = len(self) - end, len(nodes) - end
        for position, part in enumerate(_PARTS, 1):
            self._lists[position][start:stop] = map(part, nodes[start:new_stop])
        self._lists[0] = nodes
        return _edits(before, self._between(start, end))

    def _between(self, start: int, end: int) -> dict[str, _Node]:
        """Nodes by name, without `start` nodes at the beginning and `end` at the end."""
        parts = (found[start : len(self) - end] for found in self._lists)
        return {found[0].name: found for found in zip(*parts, strict=True)}


def _place(nodes: list[Any], node: Any, near: int) -> int:
    """Index of a node, most likely shortly after `near`."""
    try:
        return nodes.index(node, near)
    except ValueError:
        return nodes.index(node)


def _ends(old: list[list[Any]], new: list[list[Any]]) -> tuple[int, int]:
    """Number of equal nodes at the beginning of all lists, and at the end of the rest."""
    most = min(len(old[0]), len(new[0]))
    start = _alike(old, new, most)
    return start, _alike(map(reversed, old), map(reversed, new), most - start)


def _alike(old: Iterable[Iterable[Any]], new: Iterable[Iterable[Any]], most: int) -> int:
    """Length of the common beginning of all lists, at most `most`."""
    for was, now in zip(old, new, strict=True):
        differ = map(operator.is_not, itertools.islice(was, most), now)
        most = next(itertools.compress(itertools.count(), differ), most)
    return most


def _edits(old: dict[str, _Node], new: dict[str, _Node]) -> Edits:
    edits = [
        Edit("removed", name, before=_text(was), where=user_line(was[0]))
        for name, was in old.items()
        if name not in new
    ]
    added = [now[0] for name, now in new.items() if name not in old]
    changed = {
        name: (before, now)
        for name, now in new.items()
        if (before := old.get(name)) is not None
        and (before[1] is not now[1] or not (_same(before[2], now[2]) and _same(before[3], now[3])))
    }
    replaced = _stood_before(added, changed.values()) if added else {}
    lost = []
    for name, now in new.items():
        if name in changed:
            edits.append(Edit("changed", name, _text(changed[name][0]), _text(now), user_line(now[0])))
        elif name not in old:
            stood = replaced.get(now[0], {})
            replaces = tuple([node.name for node in stood])
            edits.append(Edit("added", name, after=_text(now), where=user_line(now[0]), replaces=replaces))
            if edits[-1].where is None and now[0].op == "call_function":
                lost.append((now[0], next(iter(stood), None)))
    was, is_now = [name for name in old if name in new], [name for name in new if name in old]
    moved = () if was == is_now else _moved(was, is_now)
    return tuple(edits), moved, tuple(lost)


def _stood_before(added: list[Any], changed: Iterable[tuple[_Node, _Node]]) -> dict[Any, dict[Any, None]]:
    """New node → what stood in its place among the arguments of nodes that were there before.

    What only other new nodes read is a part of what these stand for.
    """
    found: dict[Any, dict[Any, None]] = {node: {} for node in added}
    for before, now in changed:
        for was, is_now in _replaced((before[2], before[3]), (now[2], now[3])):
            if is_now in found:
                found[is_now][was] = None
    for node in reversed(added):
        users = list(node.users)
        if not found[node] and users and len(users) <= _MOST_USERS and all(user in found for user in users):
            found[node] = {was: None for user in users for was in found[user]}
    return found


def _replaced(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """Pairs of nodes in the same place of arguments with the same structure."""
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)) and len(one) == len(other):
        for was, is_now in zip(one, other, strict=True):
            yield from _replaced(was, is_now)
    elif isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() & other.keys():
            yield from _replaced(one[key], other[key])
    elif _is_node(one) and _is_node(other) and one is not other:
        yield one, other


def _is_node(value: Any) -> bool:
    return hasattr(value, "op") and hasattr(value, "meta")


def _text(entry: _Node) -> str:
    node, target, args, kwargs = entry
    if node.op in ("placeholder", "get_attr"):
        return f"{node.op} {target}"
    texts = [argument(value) for value in args] + [f"{key}={argument(value)}" for key, value in kwargs.items()]
    return f"{'output' if node.op == 'output' else target_name(target)}({', '.join(texts)})"


def _same(one: Any, other: Any) -> bool:
    """True if equal. Symbolic numbers are compared by identity: comparing their values would install a guard."""
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
    return _is_node(one) and one.name == other.name


def _moved(before: list[str], after: list[str]) -> tuple[str, ...]:
    """All names except a longest common subsequence of both orders (Schensted, 1961)."""
    position = {name: index for index, name in enumerate(before)}
    ends: list[int] = []
    """For the subsequences of each length, the least position that one ends with."""
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
