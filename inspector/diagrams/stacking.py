"""Which operations stand below which where no arrow says so: what keeps kernels compact and rows short."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from inspect_compile.diagrams.units import Key, Link, Unit

_MOST_BESIDE: Final = 8
"""Operations that wait for nothing stand side by side up to this number; more of them are stacked in rows."""

Pair = tuple[Key, Key]


def below(units: Sequence[Unit], links: Iterable[Link]) -> list[Pair]:
    """Pairs of operations of one section, the second below the first.

    Every pair follows the order in which things run, or joins what no arrow joins: no circle comes of them.
    """
    position = {key: index for index, unit in enumerate(units) for key in _keys(unit)}
    inside = [link for link in links if link.tail in position and link.head in position]
    joined = {(link.tail, link.head) for link in inside}
    pairs = [*_around_kernels(units, position, inside), *_rows(units, position, inside)]
    return [pair for pair in dict.fromkeys(pairs) if pair not in joined]


def _around_kernels(units: Sequence[Unit], position: dict[Key, int], links: list[Link]) -> Iterator[Pair]:
    """A kernel starts when the last of what it reads is there, and ends before the first reader of its results."""
    into: dict[int, list[Link]] = {}
    out_of: dict[int, list[Link]] = {}
    for link in links:
        if position[link.tail] != position[link.head]:
            into.setdefault(position[link.head], []).append(link)
            out_of.setdefault(position[link.tail], []).append(link)
    for index, unit in enumerate(units):
        own = _keys(unit)
        if len(own) < 2:
            continue
        within = [link for link in links if link.tail in own and link.head in own] if len(own) < 400 else []
        if index in into:
            last = max((link.tail for link in into[index]), key=lambda key: position[key])
            fed = {link.head for link in within}
            yield from ((last, key) for key in own if key not in fed)
        if index in out_of:
            first = min((link.head for link in out_of[index]), key=lambda key: position[key])
            feeding = {link.tail for link in within}
            yield from ((key, first) for key in own if key not in feeding)


def _rows(units: Sequence[Unit], position: dict[Key, int], links: list[Link]) -> Iterator[Pair]:
    yield from _stacked(_apart(list(position), [(link.tail, link.head) for link in links]), links)
    for index, unit in enumerate(units):
        own = [link for link in links if position[link.tail] == position[link.head] == index]
        ends = [(link.tail, link.head) for link in own]
        # The operations of a group stand in one frame.
        ends += [
            ((one.graph, one.name), (group.operations[0].graph, group.operations[0].name))
            for group in unit.groups
            for one in group.operations[1:]
        ]
        yield from _stacked(_apart(_keys(unit), ends), own)


def _stacked(components: list[list[Key]], links: list[Link]) -> Iterator[Pair]:
    """Components in rows, as wide together as they have operations that wait for nothing."""
    fed = {link.head for link in links}
    feeding = {link.tail for link in links}
    widths = [sum(key not in fed for key in component) for component in components]
    if sum(widths) <= _MOST_BESIDE:
        return
    wanted = max(4, round(1.2 * sum(widths) ** 0.5))
    rows: list[list[list[Key]]] = [[]]
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


def _apart(keys: Sequence[Key], ends: Iterable[tuple[Key, Key]]) -> list[list[Key]]:
    """The keys in groups that nothing joins, in the order of their first ones."""
    root = {key: key for key in keys}

    def found(key: Key) -> Key:
        while root[key] != key:
            root[key] = root[root[key]]
            key = root[key]
        return key

    for one, other in ends:
        root[found(other)] = found(one)
    components: dict[Key, list[Key]] = {}
    for key in keys:
        components.setdefault(found(key), []).append(key)
    return list(components.values())


def _keys(unit: Unit) -> list[Key]:
    return [(operation.graph, operation.name) for operation in unit.operations()]
