"""Sizes in bytes of buffers that a kernel receives as a whole."""

from collections.abc import Iterable

from inspect_compile.facts import Access, Operation


class BufferSizes:
    """Sizes of the buffers that a set of operations reads and writes."""

    def __init__(self, rows: Iterable[Operation]) -> None:
        accesses = [(row.graph, access) for row in rows for access in (*row.reads, *row.writes)]
        self._into = {(graph, access.buffer): access.into for graph, access in accesses if access.into is not None}
        self._sizes: dict[tuple[str, str], int] = {}
        for graph, access in accesses:
            size, key = access.whole if access.kind == "memory" else access.bytes, (graph, access.buffer)
            if size is not None and key not in self._into:
                self._sizes[key] = max(self._sizes.get(key, 0), size)

    def home(self, graph: str, buffer: str) -> str:
        """The buffer that owns the memory of `buffer`: one that only marks a mutation has no memory itself."""
        seen = {buffer}
        while (into := self._into.get((graph, buffer))) is not None and into not in seen:
            buffer = into
            seen.add(into)
        return buffer

    def of(self, graph: str, access: Access) -> int | None:
        """Size in bytes of the whole buffer of `access`; None if it is not known.

        A result written in place has the size of the buffer it is written to: torch records it with one element.
        """
        home = self.home(graph, access.buffer)
        size = self._sizes.get((graph, home)) if home != access.buffer else None
        return access.bytes if size is None else max(size, access.bytes or 0)
