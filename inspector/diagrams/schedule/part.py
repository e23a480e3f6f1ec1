"""Parts of a schedule: what is near to some operations, and what is on the way from one to another. Pure."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from inspect_compile.diagrams.schedule.units import Schedule, Unit
from inspect_compile.graph import Id


def around(schedule: Schedule, keys: Collection[Id], depth: int) -> list[Unit]:
    """The units at most `depth` arrows from those that have one of the operations, in schedule order."""
    unit_of = _units_of(schedule)
    neighbours: dict[int, set[int]] = {}
    for link in schedule.links:
        neighbours.setdefault(unit_of[link.tail], set()).add(unit_of[link.head])
        neighbours.setdefault(unit_of[link.head], set()).add(unit_of[link.tail])
    found = {unit_of[key] for key in keys if key in unit_of}
    edge = found
    for _ in range(depth):
        edge = {near for index in edge for near in neighbours.get(index, ())} - found
        found = found | edge
    return [unit for index, unit in enumerate(schedule.units) if index in found]


def on_the_way(schedule: Schedule, first: Collection[Id], last: Collection[Id]) -> frozenset[Id]:
    """The operations on the paths of dependencies from any of `first` to any of `last`, both ends included; none if
    there is no path.

    A path goes from operation to operation: that two are in one kernel does not join them.
    """
    after: dict[Id, set[Id]] = {}
    before: dict[Id, set[Id]] = {}
    for link in schedule.links:
        readers = {Id.of(one) for reads in link.reads.values() for one, _ in reads} or {link.head}
        for reader in readers:
            after.setdefault(link.tail, set()).add(reader)
            before.setdefault(reader, set()).add(link.tail)
    return frozenset(_reached(_members(schedule, first), after) & _reached(_members(schedule, last), before))


def units_with(schedule: Schedule, keys: Collection[Id]) -> list[Unit]:
    """The units that have one of the operations, in schedule order."""
    return [unit for unit in schedule.units if any(Id.of(one) in keys for one in unit.operations())]


def restricted(schedule: Schedule, units: Iterable[Unit]) -> Schedule:
    """The schedule as if it had these units alone: what others write is read from nowhere."""
    kept = tuple(units)
    keys = {Id.of(one) for unit in kept for one in unit.operations()}
    return replace(
        schedule,
        units=kept,
        links=tuple(link for link in schedule.links if link.tail in keys and link.head in keys),
        calls=tuple(call for call in schedule.calls if call[0] in keys),
        reads={
            key: own
            for key, reads in schedule.reads.items()
            if (own := [read for read in reads if Id.of(read[0]) in keys])
        },
    )


def _members(schedule: Schedule, keys: Collection[Id]) -> set[Id]:
    """The drawn operations that have the names: one of them may stand for several."""
    wanted = set(keys)
    return {
        Id.of(one)
        for unit in schedule.units
        for one in unit.operations()
        if any(Id(one.graph, name) in wanted for name in (one.name, *one.members))
    }


def _reached(start: set[Id], step: dict[Id, set[Id]]) -> set[Id]:
    found, waiting = set(start), list(start)
    while waiting:
        for key in step.get(waiting.pop(), ()):
            if key not in found:
                found.add(key)
                waiting.append(key)
    return found


def _units_of(schedule: Schedule) -> dict[Id, int]:
    return {
        Id(operation.graph, name): index
        for index, unit in enumerate(schedule.units)
        for operation in unit.operations()
        for name in (operation.name, *operation.members)
    }
