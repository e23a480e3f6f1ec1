"""Bytes that each launch of a kernel reads and writes: at least, and as its loops do it; what fusion saved of them.

At least: each byte of a buffer that the loops reach, once, however often they come back to it. As generated: each
load and store of the loops at every point of them, as if there were no cache; what one body loads twice at the same
place it has in a register, as it has what it computes itself. docs/cost.md tells the conventions.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from inspect_compile.analysis.index_image import evaluated
from inspect_compile.analysis.launches import Launch, launches
from inspect_compile.analysis.own_kernels import KIND, OwnKernels, OwnWork, hints_of
from inspect_compile.analysis.symbols import symbols
from inspect_compile.analysis.touched import Touched
from inspect_compile.dump import Dump
from inspect_compile.facts import Access, Location, Node, Operation, WrapperLine

_VALUES_DECIDE: Final = ("index_put", "scatter", "embedding", "gather", "index_select", "bucketize", "searchsorted")
"""Parts of names of extern kernels that touch as much of a buffer as the values of another say."""

_Key = tuple[str, int, int | None]
"""Buffer, bytes of one load, points of its loops: loads of one pass that agree in them are taken for the same ones."""


class BufferTraffic(msgspec.Struct, frozen=True):
    """One buffer in one launch. Bytes."""

    buffer: str
    read: int = 0
    written: int = 0
    """Each element once."""
    read_as_generated: int = 0
    written_as_generated: int = 0
    """At every point of the loops."""
    unsure: int = 0
    """Of `read` and `written` what depends on values that are only known when the kernel runs."""


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
    """The user's, of the kernel."""
    buffers: tuple[BufferTraffic, ...]
    """The dearest first."""

    @property
    def least(self) -> int:
        """Read and written, each element once."""
        return self.read + self.written

    @property
    def generated(self) -> int:
        """Read and written, at every point of the loops."""
        return self.read_as_generated + self.written_as_generated

    @property
    def sure(self) -> int:
        """Of `least` what does not depend on values."""
        return self.least - self.unsure


class LaunchTraffic:
    """Counts the launches of `graph`, nested graphs included."""

    def __init__(self, dump: Dump, graph: str) -> None:
        self._rows: dict[tuple[str, str, str], Operation] = {}
        self._parts: dict[tuple[str, str], list[Operation]] = {}
        self.hints = hints_of(symbols(dump, graph))
        lines = dump.rows(WrapperLine, graph)
        self._real = {(row.graph, name) for row in lines for name in (row.buffer, row.becomes, *row.arguments)}
        self._placed = {of for of, _ in self._real}
        rows = dump.rows(Operation, graph)
        makers: dict[tuple[str, str], Operation] = {}
        for row in rows:
            self._rows[row.phase, row.graph, row.name] = row
            if row.phase == "post_fusion":
                makers.update(((row.graph, buffer), row) for buffer in row.buffers)
        for row in rows:
            if row.phase == "post_fusion" and row.ir_type == "MultiOutput" and row.reads:
                maker = makers.get((row.graph, row.reads[0].buffer))
                if maker is not None:
                    self._parts.setdefault((row.graph, maker.name), []).append(row)
        self._nodes = {(row.graph, row.name): row for row in dump.rows(Node, graph) if row.stage == "post_grad"}
        self.launches = launches(dump, graph)
        self._touched: dict[tuple[str, str], list[BufferTraffic]] = {}
        """Scheduler node → what the Triton kernel of the user that it is loads and stores, where that is known."""
        self._homes: dict[tuple[str, str], str] = {}
        """Buffer that only says that another was changed → the buffer whose memory that is."""
        for row in rows:
            for access in row.writes if row.phase == "post_fusion" else ():
                if access.into:
                    self._homes[row.graph, access.buffer] = self._homes.get((row.graph, access.into), access.into)
        own = OwnKernels(dump, graph)
        for launch in self.launches:
            if launch.kernel.kind == KIND and len(launch.groups) == 1:
                self._of_user(launch, own.of(launch))

    def all(self) -> list[KernelTraffic]:
        """One row a launch."""
        return [self.of(launch) for launch in self.launches]

    def of(self, launch: Launch) -> KernelTraffic:
        """What one launch moves."""
        groups = [
            row for name in launch.groups if (row := self._rows.get(("post_fusion", launch.graph, name))) is not None
        ]
        buffers = self.buffers(groups, launch.kernel.kind, launch.kernel.name)
        return KernelTraffic(
            launch.graph,
            launch.kernel.name,
            launch.kernel.kind,
            launch.line,
            sum(row.read for row in buffers),
            sum(row.written for row in buffers),
            sum(row.read_as_generated for row in buffers),
            sum(row.written_as_generated for row in buffers),
            sum(row.unsure for row in buffers),
            any(self._is_symbolic(row) for row in groups),
            launch.nodes,
            launch.kernel.lines,
            tuple(sorted(buffers, key=lambda row: (-row.read - row.written, row.buffer))),
        )

    def _of_user(self, launch: Launch, own: OwnWork) -> None:
        """Note what a launch loads and stores, where the dump tells."""
        row = self._rows.get(("post_fusion", launch.graph, launch.groups[0]))
        if row is None or own.reads is None or own.writes is None:
            return
        sizes: dict[str, int] = {}
        for access in row.reads:
            home = self._homes.get((row.graph, access.buffer), access.buffer)
            sizes[home] = max(sizes.get(home, 0), _bytes(access))
        found = _Sums(self.hints)
        for places, read in ((own.reads, True), (own.writes, False)):
            for place in sorted(places):
                name = launch.arguments[place] if place < len(launch.arguments) else ""
                home = self._homes.get((row.graph, name), name)
                if home not in sizes:
                    return  # a part of a buffer, say
                found.whole(home, sizes[home], read=read, is_unsure=False)
        self._touched[row.graph, row.name] = found.rows()

    def buffers(self, groups: list[Operation], kind: str, kernel: str) -> list[BufferTraffic]:
        """Of scheduler nodes that one kernel computes, one after another."""
        if len(groups) == 1 and (touched := self._touched.get((groups[0].graph, groups[0].name))) is not None:
            return touched
        found = _Sums(self.hints)
        for group in groups:
            if group.kind == "nop":
                continue
            parts = self._parts.get((group.graph, group.name), [])
            if group.kind == "extern":
                self._extern(found, group, parts)
                continue
            self._loops(found, group, kind, kernel)
        return found.rows()

    def alone(self, row: Operation) -> list[BufferTraffic]:
        """Of one scheduler node before fusion, as a kernel of its own whose results all reach memory."""
        if row.kind == "extern" and (touched := self._touched.get((row.graph, row.name))) is not None:
            return touched
        found = _Sums(self.hints)
        if row.kind == "extern":
            self._extern(found, row, [])
        elif row.kind != "nop":
            for access in _needed(row):
                found.load(access, self._points(row))
            for access in row.writes:
                found.store(access)
        return found.rows()

    def _extern(self, found: "_Sums", row: Operation, parts: list[Operation]) -> None:
        """All of what it is given, as far as it is given it: a view may be a part of its buffer."""
        changed = {access.into for access in row.writes if access.into}
        reads = [access for access in row.reads if access.kind != "weak"]
        given = [self._nodes.get((row.graph, name)) for node in self._own(row) for name in node.inputs]
        views = [sum(value.bytes or 0 for value in node.values) for node in given if node is not None]
        of_view = dict(zip(sorted(reads, key=_bytes), sorted(views), strict=False)) if len(views) == len(reads) else {}
        by_value = any(word in (row.extern_kernel or "") for word in _VALUES_DECIDE)
        for access in reads:
            size = min(_bytes(access), of_view.get(access, _bytes(access)))
            found.whole(access.buffer, size, read=True, is_unsure=by_value)
        for access in (access for one in (row, *parts) for access in one.writes):
            found.whole(access.buffer, _bytes(access), read=False, is_unsure=by_value and bool(changed))

    def _own(self, row: Operation) -> list[Node]:
        """The FX node that an extern kernel is; none where it is of several."""
        nodes = [node for name in row.nodes if (node := self._nodes.get((row.graph, name))) is not None]
        return nodes if len(nodes) == 1 else []

    def _loops(self, found: "_Sums", group: Operation, kind: str, kernel: str) -> None:
        """Members of one group share what they load where they run in the same pass over its loops."""
        members = [self._rows.get(("pre_fusion", group.graph, name)) for name in group.members]
        rows = [row for row in members if row is not None] if all(members) and len(members) > 1 else [group]
        written = {access.buffer: row for row in rows for access in row.writes}
        passes = _passes(rows, is_one=kind == "triton" and "_per_" in kernel)
        loads: dict[int, dict[_Key, tuple[int, list[Access]]]] = {}
        for row in rows:
            points, number = self._points(row), passes[row.name]
            own: dict[_Key, list[Access]] = {}
            for access in _needed(row):
                maker = written.get(access.buffer)
                if maker is not None and (
                    passes[maker.name] == number
                    or not self._is_real(row.graph, access.buffer)
                    or (kind == "triton" and maker.kind == "reduction")
                ):
                    continue
                own.setdefault((access.buffer, _bytes(access), points), []).append(access)
            for key, accesses in own.items():
                most = loads.setdefault(number, {}).get(key, (0, []))
                loads[number][key] = (max(most[0], len(accesses)), most[1] + accesses)
        for by_key in loads.values():
            for (buffer, _, points), (count, accesses) in by_key.items():
                for place, access in enumerate(accesses):
                    found.load(access, points, executes=place < count, is_made=buffer in written)
        for row in rows:
            for access in row.writes:
                if access.into or self._is_real(row.graph, access.buffer):
                    found.store(access)

    def _is_real(self, graph: str, buffer: str) -> bool:
        """Does a buffer have memory of its own? Without a wrapper that tells, all have."""
        return graph not in self._placed or (graph, buffer) in self._real

    def _points(self, row: Operation) -> int | None:
        """Of its loops; None for what has none of its own, a template, or where a size has no hint."""
        outer, inner = evaluated(row.numel or "?", self.hints), evaluated(row.rnumel or "1", self.hints)
        return None if outer is None or inner is None else outer * inner

    def _is_symbolic(self, group: Operation) -> bool:
        texts = (text.partition("=")[2] for access in (*group.reads, *group.writes) for text in access.ranges)
        if any(not text.isdecimal() for text in texts):
            return True
        nodes = (self._nodes.get((group.graph, name)) for name in group.nodes if group.kind == "extern")
        return any(isinstance(size, str) for node in nodes if node for value in node.values for size in value.size)


def _needed(row: Operation) -> list[Access]:
    """What it reads; all of a buffer that it changes in place stands there only so that the order is kept."""
    changed = {access.into for access in row.writes if access.into}
    into = {access.buffer for access in row.writes if access.into}
    return [
        access
        for access in row.reads
        if access.kind == "memory" or (access.kind == "star" and access.buffer not in changed | into)
    ]


def _passes(rows: list[Operation], *, is_one: bool) -> dict[str, int]:
    """Operation → which pass over the loops it runs in: what needs the result of a reduction comes after it."""
    found: dict[str, int] = {}
    makers: dict[str, Operation] = {}
    for row in rows:
        earlier = [makers[access.buffer] for access in row.reads if access.buffer in makers]
        after = [found[one.name] + (one.kind == "reduction") for one in earlier]
        found[row.name] = 0 if is_one else max(after, default=0)
        makers.update((buffer, row) for buffer in row.buffers)
    return found


def _bytes(access: Access) -> int:
    return access.bytes or 0


class _Sums:
    """Buffer → what is touched of it."""

    def __init__(self, hints: Mapping[str, int]) -> None:
        self._hints = hints
        self._reads: dict[str, Touched] = {}
        self._writes: dict[str, Touched] = {}
        self._made: set[str] = set()

    def load(self, access: Access, points: int | None, *, executes: bool = True, is_made: bool = False) -> None:
        """`is_made`: of a buffer that the same kernel wrote, which it need not read."""
        if is_made:
            self._made.add(access.buffer)
        self._reads.setdefault(access.buffer, Touched()).access(access, self._hints, points=points, executes=executes)

    def store(self, access: Access) -> None:
        """At the points that the store tells itself: a reduction stores once for all that it goes over."""
        self._writes.setdefault(access.buffer, Touched()).access(access, self._hints, points=None, executes=True)
        self._made.add(access.buffer)

    def whole(self, buffer: str, size: int, *, read: bool, is_unsure: bool) -> None:
        """`size` bytes of a buffer that an extern kernel is given."""
        (self._reads if read else self._writes).setdefault(buffer, Touched()).whole(size, is_unsure=is_unsure)

    def rows(self) -> list[BufferTraffic]:
        """What was put in, by buffer."""
        found = []
        for buffer in dict.fromkeys((*self._reads, *self._writes)):
            reads, writes = self._reads.get(buffer, Touched()), self._writes.get(buffer, Touched())
            is_made = buffer in self._made
            found.append(
                BufferTraffic(
                    buffer,
                    0 if is_made else reads.least,
                    writes.least,
                    reads.generated,
                    writes.generated,
                    (0 if is_made else reads.unsure) + writes.unsure,
                )
            )
        return [row for row in found if row.read or row.written or row.read_as_generated or row.written_as_generated]
