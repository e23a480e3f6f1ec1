"""Selects a part of a schedule: what is near some operations."""

from inspect_compile.diagrams.schedule.units import Key, Schedule, Unit


def around_units(schedule: Schedule, keys: frozenset[Key], depth: int) -> list[Unit]:
    """The units at most `depth` arrows from those that have one of the operations, in schedule order."""
    unit_of: dict[Key, int] = {
        (operation.graph, name): index
        for index, unit in enumerate(schedule.units)
        for operation in unit.operations()
        for name in (operation.name, *operation.members)
    }
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
