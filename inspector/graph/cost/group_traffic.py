"""Bytes that scheduler nodes read and write, by buffer, when one kernel computes them.

docs/cost.md has the conventions.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from inspect_compile.facts import Access, Node, Operation, WrapperLine
from inspect_compile.graph.cost.buffer_traffic import BufferSizes, BufferSums
from inspect_compile.graph.ids import Id
from inspect_compile.graph.indexing.footprint import evaluated
from inspect_compile.graph.indexing.touched import IndexFootprints
from inspect_compile.graph.rows import hints_of

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph

_VALUES_DECIDE: Final = ("index_put", "scatter", "embedding", "gather", "index_select", "bucketize", "searchsorted")
"""Parts of names of extern kernels that touch as much of a buffer as the values in another tensor say."""
_OF_PROGRAM: Final = "UserDefinedTritonKernel"
"""The IR type of a user's Triton kernel: IR does not say how much of its arguments it touches."""
_COPIES: Final = ("InplaceCopyFallback", "DeviceCopy")
"""IR types that overwrite their whole destination without reading it."""
_OF_STORAGES: Final = ("ResizeStorageBytes", "SetSourceTensorKernel", "ShallowCopyDataKernel")
"""IR types that change which memory a tensor has, and move no element."""

_Key = tuple[str, int, int | None, str]
"""Buffer, bytes of one load, points of its loops, places of a gather: equal for loads that one pass does once."""


class GroupTraffic:
    """Computes the traffic of scheduler nodes of `graph`, nested graphs included."""

    def __init__(self, graph: "CompiledGraph") -> None:
        self.after: dict[Id, Operation] = {}
        """The scheduler nodes after fusion."""
        self._before: dict[Id, Operation] = {}
        self._parts: dict[Id, list[Operation]] = {}
        self._known: dict[tuple[str, str, str, str], BufferSums] = {}
        self.given: dict[Id, BufferSums] = {}
        """Scheduler node → what it touches, if that is known otherwise than by its accesses."""
        self._hints = hints_of(graph.symbols)
        self.places = IndexFootprints(self._hints)
        lines = graph.rows(WrapperLine)
        self._real = {
            Id(row.graph, name) for row in lines for name in (row.buffer, row.becomes, *row.arguments) if name
        }
        self._placed = {row.graph for row in lines}
        self._views = {Id(row.graph, row.buffer or "") for row in lines if row.what == "extern" and row.aliases}
        rows = graph.rows(Operation)
        makers: dict[Id, Operation] = {}
        for row in rows:
            of_phase = self.after if row.phase == "post_fusion" else self._before
            of_phase[Id.of(row)] = row
            if row.phase == "post_fusion":
                makers.update((Id(row.graph, buffer), row) for buffer in row.buffers)
        for row in rows:
            if row.phase == "post_fusion" and row.ir_type == "MultiOutput" and row.reads:
                maker = makers.get(Id(row.graph, row.reads[0].buffer))
                if maker is not None:
                    self._parts.setdefault(Id(row.graph, maker.name), []).append(row)
        self.sizes = BufferSizes(rows)
        self.nodes = graph.node_of

    def sums(self, groups: list[Operation], kind: str, kernel: str) -> BufferSums:
        """The traffic of scheduler nodes that one kernel computes one after another."""
        if len(groups) == 1:
            return self._of_one(groups[0], kind, kernel)
        found = BufferSums(self.places)
        for group in groups:
            self._add(found, group, kind, kernel)
        return found

    def _of_one(self, group: Operation, kind: str, kernel: str) -> BufferSums:
        """The same of one, which is asked for once for its launch and once for itself."""
        if (sums := self.given.get(Id.of(group))) is not None:
            return sums
        key = group.graph, group.name, kind, kernel
        if key not in self._known:
            found = self._known[key] = BufferSums(self.places)
            self._add(found, group, kind, kernel)
        return self._known[key]

    def _add(self, found: BufferSums, group: Operation, kind: str, kernel: str) -> None:
        if group.kind == "extern":
            self._extern(found, group, self._parts.get(Id.of(group), []))
        elif group.kind != "nop":
            self._loops(found, group, kind, kernel)

    def alone(self, row: Operation) -> BufferSums:
        """The traffic of one scheduler node before fusion, as a kernel of its own that writes all its results."""
        if row.kind == "extern" and (sums := self.given.get(Id.of(row))) is not None:
            return sums
        found = BufferSums(self.places)
        if row.kind == "extern":
            self._extern(found, row, [])
        elif row.kind != "nop":
            for access in data_reads(row):
                found.load(access, self._points(row))
            for access in row.writes:
                found.store(access)
        return found

    def arguments(
        self, key: Id, names: Sequence[str], reads: Collection[int] | None, writes: Collection[int] | None
    ) -> BufferSums | None:
        """The traffic of a scheduler node that reads and writes these of its arguments in whole; None if not known."""
        row = self.after.get(key)
        if row is None or reads is None or writes is None:
            return None
        sizes: dict[str, int] = {}
        for access in row.reads:
            home = self.sizes.home(row.graph, access.buffer)
            sizes[home] = max(sizes.get(home, 0), self.sizes.of(row.graph, access) or 0)
        found = BufferSums(self.places)
        for places, is_read in ((reads, True), (writes, False)):
            for place in sorted(places):
                home = self.sizes.home(row.graph, names[place] if place < len(names) else "")
                if home not in sizes:
                    return None  # a part of a buffer, for example
                found.whole(home, sizes[home], read=is_read, is_unsure=False)
        return found

    def _extern(self, found: BufferSums, row: Operation, parts: list[Operation]) -> None:
        """Add the traffic of an extern kernel: all of each argument, where a view may be a part of its buffer."""
        changed = {access.into for access in row.writes if access.into}
        is_view = any(Id(row.graph, buffer) in self._views for buffer in row.buffers) and not changed
        if is_view or row.ir_type in _OF_STORAGES:
            return
        left_out = changed if row.ir_type in _COPIES else ()
        reads = [access for access in row.reads if access.kind != "weak" and access.buffer not in left_out]
        sizes = {access: self.sizes.of(row.graph, access) for access in reads}
        given = [self.nodes.get(Id(row.graph, name)) for node in self._own(row) for name in node.inputs]
        views = sorted(sum(value.bytes or 0 for value in node.values) for node in given if node is not None)
        in_order = sorted(sizes, key=lambda access: sizes[access] or 0)
        of_view = dict(zip(in_order, views, strict=False)) if len(views) == len(sizes) else {}
        of_program = row.ir_type == _OF_PROGRAM
        by_value = of_program or any(word in (row.extern_kernel or "") for word in _VALUES_DECIDE)
        for access, size in sizes.items():
            least = size if size is None else min(size, of_view.get(access, size))
            found.whole(access.buffer, least, read=True, is_unsure=by_value)
        results = [access for access in row.writes if access.into or not parts]  # for a tuple, its elements instead
        for access in (*results, *(access for part in parts for access in part.writes)):
            size = self.sizes.of(row.graph, access)
            found.whole(access.buffer, size, read=False, is_unsure=by_value and bool(changed))

    def _own(self, row: Operation) -> list[Node]:
        """The FX node that an extern kernel runs; empty if it was made from several."""
        nodes = [node for name in row.nodes if (node := self.nodes.get(Id(row.graph, name))) is not None]
        return nodes if len(nodes) == 1 else []

    def _loops(self, found: BufferSums, group: Operation, kind: str, kernel: str) -> None:
        """Add the traffic of loops: operations of one group share loads that are in the same pass over its loops."""
        members = [self._before.get(Id(group.graph, name)) for name in group.members]
        rows = [row for row in members if row is not None] if all(members) and len(members) > 1 else [group]
        written = {access.buffer: row for row in rows for access in row.writes}
        passes = _passes(rows, is_one=kind == "triton" and "_per_" in kernel)
        loads: dict[int, dict[_Key, tuple[int, list[Access]]]] = {}
        for row in rows:
            points, number = self._points(row), passes[row.name]
            own: dict[_Key, list[Access]] = {}
            for access in data_reads(row):
                maker = written.get(access.buffer)
                if maker is not None and (
                    passes[maker.name] == number
                    or not self._is_real(row.graph, access.buffer)
                    or (kind == "triton" and maker.kind == "reduction")
                ):
                    continue
                own.setdefault((access.buffer, access.bytes or 0, points, access.places), []).append(access)
            for key, accesses in own.items():
                most = loads.setdefault(number, {}).get(key, (0, []))
                loads[number][key] = (max(most[0], len(accesses)), most[1] + accesses)
        for by_key in loads.values():
            for (buffer, _, points, _), (count, accesses) in by_key.items():
                for place, access in enumerate(accesses):
                    found.load(access, points, executes=place < count, is_made=buffer in written)
        for row in rows:
            for access in row.writes:
                if access.into or self._is_real(row.graph, access.buffer):
                    found.store(access)

    def _is_real(self, graph: str, buffer: str) -> bool:
        """True if the buffer has memory; without recorded wrapper lines every buffer is taken to have it."""
        return graph not in self._placed or Id(graph, buffer) in self._real

    def _points(self, row: Operation) -> int | None:
        """Points of the operation's loops; None for a template, without loops, or if a size has no hint."""
        outer, inner = evaluated(row.numel or "?", self._hints), evaluated(row.rnumel or "1", self._hints)
        return None if outer is None or inner is None else outer * inner

    def is_symbolic(self, group: Operation) -> bool:
        """True if any size of the group is symbolic."""
        texts = (text.partition("=")[2] for access in (*group.reads, *group.writes) for text in access.ranges)
        if any(not text.isdecimal() for text in texts):
            return True
        nodes = (self.nodes.get(Id(group.graph, name)) for name in group.nodes if group.kind == "extern")
        return any(isinstance(size, str) for node in nodes if node for value in node.values for size in value.size)


def data_reads(row: Operation) -> list[Access]:
    """The accesses that read data; a buffer that is mutated in place is also listed as read, only to keep the order."""
    changed = {access.into for access in row.writes if access.into}
    into = {access.buffer for access in row.writes if access.into}
    return [
        access
        for access in row.reads
        if access.kind == "memory" or (access.kind == "star" and access.buffer not in changed | into)
    ]


def _passes(rows: list[Operation], *, is_one: bool) -> dict[str, int]:
    """Operation → index of the pass over the loops that it runs in: a consumer of a reduction runs in the next pass."""
    found: dict[str, int] = {}
    makers: dict[str, Operation] = {}
    for row in rows:
        earlier = [makers[access.buffer] for access in row.reads if access.buffer in makers]
        after = [found[one.name] + (one.kind == "reduction") for one in earlier]
        found[row.name] = 0 if is_one else max(after, default=0)
        makers.update((buffer, row) for buffer in row.buffers)
    return found
