"""Bytes that each launch of a kernel reads and writes, at least and as generated.

At least: each byte of a buffer that the loops reach, once. As generated: each load and store at every point of the
loops, as if there were no cache; what one loop body loads twice at the same place, or computes itself, is in a
register. docs/cost.md has the conventions.

Every view takes the bytes of kernels from `launch_traffic`.
"""

from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from inspect_compile.facts import Location, Operation
from inspect_compile.graph.cost.buffer_traffic import BufferTraffic
from inspect_compile.graph.cost.group_traffic import GroupTraffic
from inspect_compile.graph.ids import Id
from inspect_compile.graph.kernels.launches import USER_TRITON, Launch
from inspect_compile.knowledge.kernels.library_kernels import is_wait

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph


class KernelTraffic(msgspec.Struct, frozen=True, tag_field="fact", tag="kernel_traffic"):
    """One launch of a kernel, in bytes. `show traffic --json` prints these."""

    graph: str
    kernel: str
    kind: str
    """triton, cpp, extern, template, user_triton or other."""
    line: int | None
    """Line number in output_code.py."""
    read: int
    written: int
    read_as_generated: int
    written_as_generated: int
    unsure: int
    is_symbolic: bool
    """True if a size is symbolic: the bytes are those at the hints."""
    nodes: tuple[str, ...]
    """FX origins."""
    lines: tuple[Location, ...]
    """Source lines of this launch."""
    buffers: tuple[BufferTraffic, ...]
    """The buffers, most bytes first."""
    is_known: bool = True
    """False if not everything it moves is known: its operations were not recorded, or a size has no hint. The numbers
    are then those of the known part, and views say so.
    """
    share: float | None = None
    """Share of the bytes of all launches of the graph, between 0 and 1; None of a row that is not one of them."""

    @property
    def least(self) -> int:
        """Bytes read and written, each element once."""
        return self.read + self.written

    @property
    def generated(self) -> int:
        """Bytes read and written at every point of the loops."""
        return self.read_as_generated + self.written_as_generated

    @property
    def is_read_unsure(self) -> bool:
        """True if the bytes read depend on values."""
        return any(one.unsure and one.read for one in self.buffers)

    @property
    def is_written_unsure(self) -> bool:
        """True if the bytes written depend on values."""
        return any(one.unsure > one.read for one in self.buffers)

    @property
    def sure(self) -> int:
        """The part of `least` that does not depend on values."""
        return self.least - self.unsure


class LaunchTraffic:
    """The traffic of the launches of `graph`, nested graphs included."""

    def __init__(self, graph: "CompiledGraph") -> None:
        self.graph = graph.name
        self.groups = GroupTraffic(graph)
        self.launches = graph.launches
        if any(launch.kernel.kind == USER_TRITON for launch in self.launches):
            self._of_user(graph)
        self._launch_of = {Id(one.graph, group): one for one in self.launches for group in one.groups}
        self._counted: dict[tuple[str, str, int | None, tuple[str, ...]], KernelTraffic] = {}

    def _of_user(self, graph: "CompiledGraph") -> None:
        """What the launches of the user's Triton kernels touch, where their TTIR says it."""
        from inspect_compile.graph.kernels.user_triton_kernels import OwnKernels

        own = OwnKernels(graph)
        for launch in self.launches:
            if launch.kernel.kind == USER_TRITON and len(launch.groups) == 1:
                work, key = own.of(launch), Id(launch.graph, launch.groups[0])
                sums = self.groups.arguments(key, launch.arguments, work.reads, work.writes)
                if sums is not None:
                    self.groups.given[key] = sums

    def all(self) -> list[KernelTraffic]:
        """One row for each launch, with its share."""
        return self._all

    @cached_property
    def _all(self) -> list[KernelTraffic]:
        rows = [self.of(launch) for launch in self.launches]
        total = sum(row.least for row in rows)
        return [msgspec.structs.replace(row, share=row.least / total if total else 0.0) for row in rows]

    @cached_property
    def moved(self) -> int:
        """Bytes that all launches read and write, as far as known."""
        return sum(row.least for row in self.all())

    @cached_property
    def unknown(self) -> int:
        """Number of launches whose bytes are not fully known."""
        return sum(not row.is_known for row in self.all())

    @cached_property
    def least(self) -> int:
        """Bytes if the graph were one kernel: each input as the launch that reads most of it does, and each output."""
        written = {Id(row.graph, one.buffer) for row in self.all() for one in row.buffers if one.written}
        inputs: dict[str, int] = {}
        for row in self.all():
            for one in row.buffers:
                if row.graph == self.graph and Id(row.graph, one.buffer) not in written:
                    inputs[one.buffer] = max(inputs.get(one.buffer, 0), one.read)
        nodes = [node for (of, _), node in self.groups.nodes.items() if of == self.graph]
        given = {node.name for node in nodes if node.op == "placeholder"}
        made = {node.name: sum(value.bytes or 0 for value in node.values) for node in nodes if node.name not in given}
        results = sum(made.get(name, 0) for node in nodes if node.op == "output" for name in node.inputs)
        found = sum(inputs.values()) + results
        return found if self.unknown else min(found, self.moved)

    def of(self, launch: Launch) -> KernelTraffic:
        """The traffic of one launch."""
        key = launch.graph, launch.kernel.name, launch.line, launch.groups
        found = self._counted.get(key)
        if found is None:
            found = self._counted[key] = self._count(launch)
        return found

    def of_node(self, row: Operation) -> KernelTraffic | None:
        """The share of one scheduler node after fusion in its kernel's traffic; None if the node computes nothing."""
        if row.phase != "post_fusion" or row.kind == "nop" or row.ir_type == "MultiOutput":
            return None
        return self._row(row.graph, self._launch_of.get(Id.of(row)), None, [row], row.nodes)

    def _count(self, launch: Launch) -> KernelTraffic:
        rows = [self.groups.after.get(Id(launch.graph, name)) for name in launch.groups]
        groups = [row for row in rows if row is not None]
        found = self._row(launch.graph, launch, launch.line, groups, launch.nodes)
        is_told = bool(rows) and len(groups) == len(rows)
        return found if is_told else msgspec.structs.replace(found, is_known=False)

    def _row(
        self, graph: str, launch: Launch | None, line: int | None, groups: list[Operation], nodes: tuple[str, ...]
    ) -> KernelTraffic:
        name, kind = (launch.kernel.name, launch.kernel.kind) if launch is not None else ("", "")
        found = self.groups.sums(groups, kind, name)
        buffers = [] if is_wait(name) else found.rows()  # it returns its argument
        return KernelTraffic(
            graph,
            name,
            kind,
            line,
            sum(row.read for row in buffers),
            sum(row.written for row in buffers),
            sum(row.read_as_generated for row in buffers),
            sum(row.written_as_generated for row in buffers),
            sum(row.unsure for row in buffers),
            any(self.groups.is_symbolic(row) for row in groups),
            nodes,
            launch.lines if launch is not None else (),
            tuple(sorted(buffers, key=lambda row: (-row.read - row.written, row.buffer))),
            found.is_known or is_wait(name),
        )
