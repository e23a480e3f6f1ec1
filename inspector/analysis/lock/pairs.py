"""Which frames and graphs of two contracts are the same ones."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import msgspec

from inspect_compile.analysis.compare.pairing import matched
from inspect_compile.analysis.lock.records import FrameLock, GraphLock, MachineGraph
from inspect_compile.graph import file_name

T = TypeVar("T")
Pair = tuple[T, None] | tuple[None, T] | tuple[T, T]


def frame_pairs(old: Sequence[FrameLock], new: Sequence[FrameLock]) -> list[Pair[FrameLock]]:
    """Frames of the same name in a file of the same name: the folder may be another one."""
    return list(_pairs(old, new, lambda one: (file_name(one.file), one.name), lambda one: one.lines))


def graph_pairs(old: Sequence[GraphLock], new: Sequence[GraphLock]) -> list[tuple[Pair[GraphLock], int]]:
    """Graphs of the same frame and kind, each with the position of the new one; -1 where there is none."""
    positions = {id(one): index for index, one in enumerate(new)}
    found = _pairs(old, new, lambda one: one.name, _without_figures)
    return [(pair, -1 if pair[1] is None else positions[id(pair[1])]) for pair in found]


def machine_pairs(old: Sequence[MachineGraph], new: Sequence[MachineGraph]) -> list[tuple[Pair[MachineGraph], int]]:
    """The same of what depends on the machine."""
    positions = {id(one): index for index, one in enumerate(new)}
    found = _pairs(old, new, lambda one: (one.frame, one.kind), lambda one: one.sources)
    return [(pair, -1 if pair[1] is None else positions[id(pair[1])]) for pair in found]


def _without_figures(one: GraphLock) -> object:
    return one.fused, one.extern, one.dtypes


def _pairs(
    old: Sequence[T], new: Sequence[T], key: Callable[[T], object], likeness: Callable[[T], object]
) -> Iterator[Pair[T]]:
    """Equal ones first, so that the order of compiles does not count; then those that are alike, then the others. All
    of one key stand together.
    """
    names = {id(one): _hashable(key(one)) for one in (*old, *new)}

    def name(one: T) -> bytes:
        return names[id(one)]

    found = matched(
        old, new, lambda one: (name(one), _hashable(one)), lambda one: (name(one), _hashable(likeness(one))), name
    )
    named: list[tuple[bytes, Pair[T]]] = [
        *((name(one), (one, other)) for one, other in found.pairs),
        *((name(one), (one, None)) for one in found.only_a),
        *((name(one), (None, one)) for one in found.only_b),
    ]
    places = {one: place for place, one in enumerate(dict.fromkeys(names.values()))}
    yield from (pair for _, pair in sorted(named, key=lambda one: places[one[0]]))


def _hashable(value: object) -> bytes:
    return msgspec.json.encode(value, order="sorted")
