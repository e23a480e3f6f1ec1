"""Which operations are placed below each other without an arrow: keeps kernels compact and rows short."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from inspect_compile.diagrams.schedule.units import Link, Unit
from inspect_compile.graph import Id, gathered

_MOST_BESIDE: Final = 8
"""Up to this number, operations without predecessors are placed side by side; more are stacked in rows."""

Pair = tuple[Id, Id]


def below(units: Sequence[Unit], links: Iterable[Link]) -> list[Pair]:
    """Pairs of operations of one section, the second below the first.

    Every pair follows the execution order, or connects what no arrow connects: there are no cycles.
    """
    position = {key: index for index, unit in enumerate(units) for key in _keys(unit)}
    inside = [link for link in links if link.tail in position and link.head in position]
    joined = {(link.tail, link.head) for link in inside}
    within: dict[int, list[Link]] = {}
    between: list[tuple[int, int, Link]] = []
    for link in inside:
        tail, head = position[link.tail], position[link.head]
        if tail == head:
            within.setdefault(tail, []).append(link)
        else:
            between.append((tail, head, link))
    pairs = [*_around_kernels(units, within, between), *_rows(units, within, inside)]
    return [pair for pair in dict.fromkeys(pairs) if pair not in joined]


def _around_kernels(
    units: Sequence[Unit], within: dict[int, list[Link]], between: list[tuple[int, int, Link]]
) -> Iterator[Pair]:
    """Places a kernel below the last of its inputs, and above the first reader of its results."""
    last: dict[int, tuple[int, Id]] = {}
    first: dict[int, tuple[int, Id]] = {}
    for tail, head, link in between:
        last[head] = max(last.get(head, (tail, link.tail)), (tail, link.tail))
        first[tail] = min(first.get(tail, (head, link.head)), (head, link.head))
    for index, unit in enumerate(units):
        own = _keys(unit)
        if len(own) < 2:
            continue
        if index in last:
            fed = {link.head for link in within.get(index, ())}
            yield from ((last[index][1], key) for key in own if key not in fed)
        if index in first:
            feeding = {link.tail for link in within.get(index, ())}
            yield from ((key, first[index][1]) for key in own if key not in feeding)


def _rows(units: Sequence[Unit], within: dict[int, list[Link]], links: list[Link]) -> Iterator[Pair]:
    """Unconnected operations, in the section and in each kernel, in rows of limited length."""
    keys = [key for unit in units for key in _keys(unit)]
    ends = [(link.tail, link.head) for link in links]
    ends += [(key, own[0]) for own in map(_keys, units) for key in own[1:]]
    yield from _stacked(_apart(keys, ends), links)
    for index, unit in enumerate(units):
        own = within.get(index, [])
        ends = [(link.tail, link.head) for link in own]
        # The operations of a group are in one frame.
        ends += [(Id.of(one), Id.of(group.operations[0])) for group in unit.groups for one in group.operations[1:]]
        yield from _stacked(_apart(_keys(unit), ends), own)


def _stacked(components: list[list[Id]], links: list[Link]) -> Iterator[Pair]:
    """Components in rows, whose width is their number of operations without predecessors."""
    fed = {link.head for link in links}
    feeding = {link.tail for link in links}
    widths = [sum(key not in fed for key in component) for component in components]
    if sum(widths) <= _MOST_BESIDE:
        return
    wanted = max(4, round(1.2 * sum(widths) ** 0.5))
    rows: list[list[list[Id]]] = [[]]
    used = 0
    for component, width in zip(components, widths, strict=True):
        if rows[-1] and used + width > wanted:
            rows.append([])
            used = 0
        rows[-1].append(component)
        used += width
    for upper, lower in pairwise(rows):
        for place, component in enumerate(lower):
            above = upper[min(place, len(upper) - 1)]
            last = [key for key in above if key not in feeding][-1:] or above[-1:]
            yield from ((one, key) for one in last for key in component if key not in fed)


def _apart(keys: Sequence[Id], ends: Iterable[tuple[Id, Id]]) -> list[list[Id]]:
    """The connected components of the keys, in the order of their first keys."""
    root = {key: key for key in keys}

    def found(key: Id) -> Id:
        while root[key] != key:
            root[key] = root[root[key]]
            key = root[key]
        return key

    for one, other in ends:
        root[found(other)] = found(one)
    components = gathered((found(key), key) for key in keys)
    return list(components.values())


def _keys(unit: Unit) -> list[Id]:
    return [Id.of(operation) for operation in unit.operations()]
