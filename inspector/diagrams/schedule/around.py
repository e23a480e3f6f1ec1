"""Selects a part of a schedule: what is near one thing."""

from typing import TYPE_CHECKING

from inspect_compile.diagrams.schedule.units import Key, Schedule, Unit
from inspect_compile.errors import CommandError
from inspect_compile.facts import Lowering

if TYPE_CHECKING:
    from inspect_compile.dump import Dump


def around_units(dump: "Dump", graph: str, schedule: Schedule, name: str, depth: int) -> list[Unit]:
    """The units at most `depth` arrows from the one called `name`, in schedule order."""
    unit_of: dict[Key, int] = {
        (operation.graph, operation.name): index
        for index, unit in enumerate(schedule.units)
        for operation in unit.operations()
    }
    neighbours: dict[int, set[int]] = {}
    for tail, head in [(link.tail, link.head) for link in schedule.links]:
        neighbours.setdefault(unit_of[tail], set()).add(unit_of[head])
        neighbours.setdefault(unit_of[head], set()).add(unit_of[tail])
    found = {index for index, unit in enumerate(schedule.units) if _means(unit, name)}
    if not found:
        made = {(row.graph, made) for row in dump.rows(Lowering, graph) if row.node == name for made in row.operations}
        found = {unit_of[key] for key in made if key in unit_of}
    if not found:
        operations = [operation.name for unit in schedule.units for operation in unit.operations()]
        there = f"operations {operations[0]} to {operations[-1]}" if operations else "no operations"
        raise CommandError(
            f"--around {name}: no operation, buffer, FX node or kernel of that name in {graph}; it has {there}"
        )
    edge = found
    for _ in range(depth):
        edge = {near for index in edge for near in neighbours.get(index, ())} - found
        found = found | edge
    return [unit for index, unit in enumerate(schedule.units) if index in found]


def _means(unit: Unit, name: str) -> bool:
    if unit.launch is not None and unit.launch.kernel.name == name:
        return True
    if any(group.key[1] == name for group in unit.groups):
        return True
    return any(
        name == operation.name or name in operation.members or name in operation.buffers or name in operation.nodes[-1:]
        for operation in unit.operations()
    )
