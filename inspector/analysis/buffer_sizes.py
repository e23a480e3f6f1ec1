"""How large a buffer is that a kernel is given as a whole."""

from collections.abc import Iterable

from inspect_compile.facts import Access, Operation


class BufferSizes:
    """Those of the buffers that some operations read and write."""

    def __init__(self, rows: Iterable[Operation]) -> None:
        accesses = [(row.graph, access) for row in rows for access in (*row.reads, *row.writes)]
        self._into = {(graph, access.buffer): access.into for graph, access in accesses if access.into is not None}
        self._sizes: dict[tuple[str, str], int] = {}
        for graph, access in accesses:
            size, key = access.whole if access.kind == "memory" else access.bytes, (graph, access.buffer)
            if size is not None and key not in self._into:
                self._sizes[key] = max(self._sizes.get(key, 0), size)

    def home(self, graph: str, buffer: str) -> str:
        """The buffer whose memory it is: one that only says that another was changed has none of its own."""
        seen = {buffer}
        while (into := self._into.get((graph, buffer))) is not None and into not in seen:
            buffer = into
            seen.add(into)
        return buffer

    def of(self, graph: str, access: Access) -> int | None:
        """Bytes of all of its buffer; None where nothing tells.

        A result in place has those of what it goes to: torch says of it that it has one element.
        """
        home = self.home(graph, access.buffer)
        size = self._sizes.get((graph, home)) if home != access.buffer else None
        return access.bytes if size is None else max(size, access.bytes or 0)
