"""Bytes that each launch of a kernel reads and writes: at least, and as its loops do it; what fusion saved of them.

At least: each byte of a buffer that the loops reach, once, however often they come back to it. As generated: each
load and store of the loops at every point of them, as if there were no cache; what one body loads twice at the same
place it has in a register, as it has what it computes itself. docs/cost.md tells the conventions.

Every view takes the bytes of kernels from here: `launch_traffic`.
"""

from functools import cached_property
from typing import Final

import msgspec

from inspect_compile.analysis.buffer_traffic import BufferTraffic
from inspect_compile.analysis.counted_once import CountedOnce
from inspect_compile.analysis.group_traffic import GroupTraffic
from inspect_compile.analysis.launches import USER_TRITON, Launch, launches
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel, Location, Node, Operation, Symbol, WrapperLine


class KernelTraffic(msgspec.Struct, frozen=True, tag_field="fact", tag="kernel_traffic"):
    """One launch of a kernel. Bytes. `show traffic --json` prints these."""

    graph: str
    kernel: str
    kind: str
    """The kernel's: triton, cpp, extern, template, user_triton, other."""
    line: int | None
    """Of output_code.py."""
    read: int
    written: int
    read_as_generated: int
    written_as_generated: int
    unsure: int
    is_symbolic: bool
    """Some size is a symbol: these are the bytes at the hints."""
    nodes: tuple[str, ...]
    """FX origins."""
    lines: tuple[Location, ...]
    """The user's, of this launch."""
    buffers: tuple[BufferTraffic, ...]
    """The dearest first."""
    is_known: bool = True
    """False where the dump does not tell all that it moves: its operations were not recorded, or a size has no hint.
    The numbers are those of what is known then, and views say that they are not."""

    @property
    def least(self) -> int:
        """Read and written, each element once."""
        return self.read + self.written

    @property
    def generated(self) -> int:
        """Read and written, at every point of the loops."""
        return self.read_as_generated + self.written_as_generated

    @property
    def is_read_unsure(self) -> bool:
        """How much is read depends on values."""
        return any(one.unsure and one.read for one in self.buffers)

    @property
    def is_written_unsure(self) -> bool:
        """How much is written depends on values."""
        return any(one.unsure > one.read for one in self.buffers)

    @property
    def sure(self) -> int:
        """Of `least` what does not depend on values."""
        return self.least - self.unsure


class LaunchTraffic:
    """Counts the launches of `graph`, nested graphs included. `launch_traffic` has the one of a dump's graph."""

    def __init__(self, dump: Dump, graph: str) -> None:
        self.graph = graph
        self.groups = GroupTraffic(dump, graph)
        self.launches = launches(dump, graph)
        if any(launch.kernel.kind == USER_TRITON for launch in self.launches):
            from inspect_compile.analysis.own_traffic import own_traffic

            own_traffic(dump, graph, self.launches, self.groups)
        self._launch_of = {(one.graph, group): one for one in self.launches for group in one.groups}
        self._counted: dict[tuple[str, str, int | None, tuple[str, ...]], KernelTraffic] = {}

    def all(self) -> list[KernelTraffic]:
        """One row a launch."""
        return [self.of(launch) for launch in self.launches]

    @cached_property
    def moved(self) -> int:
        """Bytes that all launches read and write, as far as they are known."""
        return sum(row.least for row in self.all())

    @cached_property
    def unknown(self) -> int:
        """Launches of which the dump does not tell all that they move."""
        return sum(not row.is_known for row in self.all())

    @cached_property
    def least(self) -> int:
        """Bytes if the graph were one kernel: each input as the launch that reads the most of it does, each output."""
        written = {(row.graph, one.buffer) for row in self.all() for one in row.buffers if one.written}
        inputs: dict[str, int] = {}
        for row in self.all():
            for one in row.buffers:
                if row.graph == self.graph and (row.graph, one.buffer) not in written:
                    inputs[one.buffer] = max(inputs.get(one.buffer, 0), one.read)
        nodes = [node for (of, _), node in self.groups.nodes.items() if of == self.graph]
        given = {node.name for node in nodes if node.op == "placeholder"}
        made = {node.name: sum(value.bytes or 0 for value in node.values) for node in nodes if node.name not in given}
        results = sum(made.get(name, 0) for node in nodes if node.op == "output" for name in node.inputs)
        found = sum(inputs.values()) + results
        return found if self.unknown else min(found, self.moved)

    def of(self, launch: Launch) -> KernelTraffic:
        """What one launch moves."""
        key = launch.graph, launch.kernel.name, launch.line, launch.groups
        found = self._counted.get(key)
        if found is None:
            found = self._counted[key] = self._count(launch)
        return found

    def of_node(self, row: Operation) -> KernelTraffic | None:
        """What one scheduler node after fusion does of what its kernel moves; None of one that computes nothing."""
        if row.phase != "post_fusion" or row.kind == "nop" or row.ir_type == "MultiOutput":
            return None
        return self._row(row.graph, self._launch_of.get((row.graph, row.name)), None, [row], row.nodes)

    def _count(self, launch: Launch) -> KernelTraffic:
        rows = [self.groups.after.get((launch.graph, name)) for name in launch.groups]
        groups = [row for row in rows if row is not None]
        found = self._row(launch.graph, launch, launch.line, groups, launch.nodes)
        is_told = bool(rows) and len(groups) == len(rows)
        return found if is_told else msgspec.structs.replace(found, is_known=False)

    def _row(
        self, graph: str, launch: Launch | None, line: int | None, groups: list[Operation], nodes: tuple[str, ...]
    ) -> KernelTraffic:
        name, kind = (launch.kernel.name, launch.kernel.kind) if launch is not None else ("", "")
        found = self.groups.sums(groups, kind, name)
        buffers = found.rows()
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
            found.is_known,
        )


_COUNTED: Final = CountedOnce[LaunchTraffic]()


def launch_traffic(dump: Dump, graph: str) -> LaunchTraffic:
    """The launches of `graph`, nested graphs included; counted once for as many rows as the dump has now."""
    extent = tuple(len(dump.rows(kind, graph)) for kind in (Operation, WrapperLine, Node, Kernel, Symbol))
    return _COUNTED.of(dump, graph, extent, lambda: LaunchTraffic(dump, graph))
