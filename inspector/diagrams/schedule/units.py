"""The schedule for a diagram: operations, what runs as one kernel, and who reads what from whom."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from inspect_compile.facts import Access, Graph, Operation, WrapperLine
from inspect_compile.graph import CompiledGraph, Id, gathered
from inspect_compile.graph.kernels.launches import Launch

Phase = Literal["pre_fusion", "post_fusion"]
Read = tuple[Operation, Access]
"""The reader, and its access."""

MULTI_OUTPUT = "MultiOutput"
"""torch's class for one result of a call that has several."""

OUTPUT = "OUTPUT"
"""torch's name for the reader of what the graph returns."""


@dataclass(frozen=True)
class Group:
    """A scheduler node of the drawn phase, with its operations."""

    key: Id
    operations: tuple[Operation, ...]


@dataclass(frozen=True)
class Unit:
    """What is never split in the picture: one launch of a generated kernel, or one operation."""

    graph: str
    groups: tuple[Group, ...]
    launch: Launch | None = None

    @property
    def is_kernel(self) -> bool:
        """True for a generated kernel, as opposed to a call of an existing one."""
        return self.launch is not None and self.launch.kernel.kind not in ("extern", "user_triton")

    def operations(self) -> Iterator[Operation]:
        """All operations in it."""
        for group in self.groups:
            yield from group.operations


@dataclass
class Link:
    """A dependency, of data or only of order, between an operation and a reader: an operation or a fused group."""

    tail: Id
    head: Id
    """The first operation of the reader that reads."""
    group: Id
    """The reader's group; within the tail's own group, readers are distinguished."""
    is_order: bool
    reads: dict[str, list[Read]] = field(default_factory=dict)
    """Buffer → its reads."""


@dataclass(frozen=True)
class Schedule:
    """One graph with its nested graphs, in one phase."""

    units: tuple[Unit, ...]
    """In execution order; those of a nested graph follow the operation that calls it."""
    links: tuple[Link, ...]
    calls: tuple[tuple[Id, str], ...]
    """Operation → nested graph that it runs."""
    reads: dict[Id, list[Read]]
    """Input (graph, name) → its reads."""
    stored: frozenset[Id]
    """Buffers that have memory. In a graph without recorded wrapper, all buffers count."""
    has_wrapper: frozenset[str]
    group_of: dict[Id, Group]

    def is_stored(self, graph: str, buffer: str) -> bool:
        """True if `buffer` has memory instead of existing only inside its kernel."""
        return graph not in self.has_wrapper or Id(graph, buffer) in self.stored


def schedule(graph: "CompiledGraph", phase: Phase) -> Schedule:
    """The operations of `graph` and their dependencies; empty if that phase was not recorded."""
    rows = graph.rows(Operation)
    groups = _groups(rows, phase)
    units, calls = _units(graph, groups, phase)
    group_of = {Id.of(operation): group for unit in units for group in unit.groups for operation in group.operations}
    operations = [operation for unit in units for operation in unit.operations()]
    producers = {Id(operation.graph, buffer): operation for operation in operations for buffer in operation.buffers}
    links, reads = _links(operations, producers, group_of)
    wrapper = graph.rows(WrapperLine) if phase == "post_fusion" else []
    stored = frozenset(
        Id(row.graph, name) for row in wrapper for name in (row.buffer, row.becomes, *row.arguments) if name
    )
    return Schedule(units, links, calls, reads, stored, frozenset(row.graph for row in wrapper), group_of)


def _groups(rows: list[Operation], phase: Phase) -> list[Group]:
    """The scheduler nodes of `phase`, each with its members from before fusion, which have the individual reads."""
    before = {Id(row.graph, member): row for row in rows if row.phase == "pre_fusion" for member in row.members}
    groups = []
    for row in rows:
        if row.phase != phase:
            continue
        members: tuple[Operation, ...] = (row,)
        if phase == "post_fusion" and len(row.members) > 1:
            found = {id(member): member for name in row.members for member in (before.get(Id(row.graph, name)),)}
            own = set(row.members)
            if all(member is not None and own.issuperset(member.members) for member in found.values()):
                members = tuple({member.name: member for member in found.values() if member is not None}.values())
        groups.append(Group(Id.of(row), members))
    return groups


def _units(
    graph: "CompiledGraph", groups: list[Group], phase: Phase
) -> tuple[tuple[Unit, ...], tuple[tuple[Id, str], ...]]:
    launch_of: dict[Id, Launch] = {}
    if phase == "post_fusion":
        launch_of = {Id(launch.graph, name): launch for launch in graph.launches for name in launch.groups}
    collected: dict[str, dict[object, list[Group]]] = {}
    for group in groups:
        launch = launch_of.get(group.key)
        identity = id(launch) if launch is not None else group.key
        collected.setdefault(group.key[0], {}).setdefault(identity, []).append(group)
    units = {
        of: [Unit(of, tuple(found), launch_of.get(found[0].key)) for found in by_identity.values()]
        for of, by_identity in collected.items()
    }
    nested = [row for row in graph.dump.nested(graph.name) if row.graph in units]
    return _placed(graph.name, units, nested)


def _placed(
    graph: str, units: dict[str, list[Unit]], nested: list[Graph]
) -> tuple[tuple[Unit, ...], tuple[tuple[Id, str], ...]]:
    """All units, those of nested graphs after the operation that calls them; and who calls which."""
    by_name = gathered(((row.parent, row.name), index) for index, row in enumerate(nested))
    ordered: list[Unit] = []
    calls: dict[str, Id] = {}

    def called(of: str) -> Iterator[str]:
        for unit in units.pop(of, []):
            ordered.append(unit)
            for operation in unit.operations():
                if operation.kind == "extern" and operation.ir_type != MULTI_OUTPUT:
                    for index in sorted({index for name in operation.nodes for index in by_name.get(Id(of, name), ())}):
                        inner = nested[index].graph
                        if inner not in calls:
                            calls[inner] = Id(of, operation.name)
                            yield inner

    for start in (graph, *(row.graph for row in nested)):  # last those whose caller is not known
        open_graphs = [called(start)]  # graphs could be nested deeper than functions can recurse
        while open_graphs:
            inner = next(open_graphs[-1], None)
            if inner is None:
                open_graphs.pop()
            else:
                open_graphs.append(called(inner))
    return tuple(ordered), tuple((key, inner) for inner, key in calls.items())


def _links(
    operations: Iterable[Operation], producers: dict[Id, Operation], group_of: dict[Id, Group]
) -> tuple[tuple[Link, ...], dict[Id, list[Read]]]:
    links: dict[tuple[Id, Id, bool], Link] = {}

    def linked(producer: Operation, reader: Operation, *, is_order: bool) -> Link:
        tail, head = Id.of(producer), Id.of(reader)
        group = group_of[head]
        end = head if group_of[tail] is group else group.key
        return links.setdefault((tail, end, is_order), Link(tail, head, group.key, is_order))

    inputs: dict[Id, list[Read]] = {}
    by_name = {Id(operation.graph, member): operation for operation in operations for member in operation.members}
    for reader in operations:
        graph = reader.graph
        data = {access.buffer for access in reader.reads if access.kind != "weak"}
        tails: set[str] = set()
        for access in reader.reads:
            producer = producers.get(Id(graph, access.buffer))
            is_order = access.kind == "weak"
            if producer is None:
                if not is_order:
                    inputs.setdefault(Id(graph, access.buffer), []).append((reader, access))
                continue
            if producer is reader or (is_order and access.buffer in data):
                continue
            tails.add(producer.name)
            link = linked(producer, reader, is_order=is_order)
            link.reads.setdefault(access.buffer, []).append((reader, access))
        for name in reader.predecessors:
            producer = by_name.get(Id(graph, name))
            if producer is not None and producer is not reader and producer.name not in tails:
                linked(producer, reader, is_order=True)
    data_ends = {(link.tail, link.group) for link in links.values() if not link.is_order}
    kept = [
        link
        for link in links.values()
        # Within a group, and beside data, an order dependency adds nothing.
        if not (link.is_order and ((link.tail, link.group) in data_ends or group_of[link.tail].key == link.group))
    ]
    return tuple(kept), inputs
