"""Bytes of each buffer that one kernel reads and writes, summed up from its loads and stores or, in whole, by size."""

from collections.abc import Iterable
from typing import Final

import msgspec

from inspect_compile.facts import Access, Operation
from inspect_compile.graph.ids import Id
from inspect_compile.graph.indexing.touched import IndexFootprints, Touched


class BufferTraffic(msgspec.Struct, frozen=True):
    """One buffer in one launch, in bytes."""

    buffer: str
    read: int = 0
    written: int = 0
    """Bytes written, each element once."""
    read_as_generated: int = 0
    written_as_generated: int = 0
    """Bytes written, counting every store at every point of the loops."""
    unsure: int = 0
    """The part of `read` and `written` that depends on values known only when the kernel runs."""


_NOTHING: Final = Touched()
"""Never added to."""


class BufferSums:
    """Bytes read and written, by buffer."""

    def __init__(self, places: IndexFootprints) -> None:
        self._places = places
        self.reads: dict[str, Touched] = {}
        self.writes: dict[str, Touched] = {}
        self.made: set[str] = set()
        """Buffers that the kernel itself wrote."""
        self.is_known = True
        """False if the size of something touched is not known."""

    def load(self, access: Access, points: int | None, *, executes: bool = True, is_made: bool = False) -> None:
        """Add a load. `is_made`: the kernel wrote the buffer itself, and so need not read it."""
        if is_made:
            self.made.add(access.buffer)
        self._see(access)
        self.reads.setdefault(access.buffer, Touched()).access(access, self._places, points=points, executes=executes)

    def store(self, access: Access) -> None:
        """Add a store at the points that it states itself: a reduction stores once for all that it reduces over."""
        self._see(access)
        self.writes.setdefault(access.buffer, Touched()).access(access, self._places, points=None, executes=True)
        self.made.add(access.buffer)

    def whole(self, buffer: str, size: int | None, *, read: bool, is_unsure: bool) -> None:
        """Add `size` bytes of a buffer that an extern kernel receives."""
        self.is_known = self.is_known and size is not None
        (self.reads if read else self.writes).setdefault(buffer, Touched()).whole(size or 0, is_unsure=is_unsure)

    def rows(self) -> list[BufferTraffic]:
        """The sums, one row for each buffer."""
        found = []
        for buffer in dict.fromkeys((*self.reads, *self.writes)):
            reads, writes = self.reads.get(buffer, _NOTHING), self.writes.get(buffer, _NOTHING)
            is_made = buffer in self.made
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

    def _see(self, access: Access) -> None:
        self.is_known = self.is_known and access.bytes is not None and self._places.has_hints(access.ranges)


class BufferSizes:
    """Sizes of the buffers that a set of operations reads and writes."""

    def __init__(self, rows: Iterable[Operation]) -> None:
        accesses = [(row.graph, access) for row in rows for access in (*row.reads, *row.writes)]
        self._into = {Id(graph, access.buffer): access.into for graph, access in accesses if access.into is not None}
        self._sizes: dict[Id, int] = {}
        for graph, access in accesses:
            size, key = access.whole if access.kind == "memory" else access.bytes, Id(graph, access.buffer)
            if size is not None and key not in self._into:
                self._sizes[key] = max(self._sizes.get(key, 0), size)

    def home(self, graph: str, buffer: str) -> str:
        """The buffer that owns the memory of `buffer`: one that only marks a mutation has no memory itself."""
        seen = {buffer}
        while (into := self._into.get(Id(graph, buffer))) is not None and into not in seen:
            buffer = into
            seen.add(into)
        return buffer

    def of(self, graph: str, access: Access) -> int | None:
        """Size in bytes of the whole buffer of `access`; None if it is not known.

        A result written in place has the size of the buffer it is written to: torch records it with one element.
        """
        home = self.home(graph, access.buffer)
        size = self._sizes.get(Id(graph, home)) if home != access.buffer else None
        return access.bytes if size is None else max(size, access.bytes or 0)
