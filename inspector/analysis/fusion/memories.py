"""Which buffers of a graph are one memory, or a part of it: parts of a concatenation, views, results in place."""

from collections.abc import Iterable
from typing import Final

from inspect_compile.facts import Operation, WrapperLine
from inspect_compile.graph import CompiledGraph

_PARTS: Final = ("ConcatKernel",)
"""IR types that compute nothing: what they read is written into their own buffer."""
_ELEMENTS: Final = ("MultiOutput",)
"""IR types whose buffer is an element of what the call that they read returned."""


class Memories:
    """The buffers of one graph, without its nested graphs."""

    def __init__(self, operations: Iterable[Operation], lines: Iterable[WrapperLine]) -> None:
        """`operations` are the scheduler nodes before fusion."""
        self._same: dict[str, str] = {}
        """Result in place → the buffer whose memory it is written to."""
        self._holders: dict[str, set[str]] = {}
        """Buffer → those of whose memory it is a part."""
        for row in operations:
            self._same.update((access.buffer, access.into) for access in row.writes if access.into)
            for access in row.reads if row.ir_type in (*_PARTS, *_ELEMENTS) else ():
                for buffer in row.buffers:
                    part, whole = (access.buffer, buffer) if row.ir_type in _PARTS else (buffer, access.buffer)
                    self._holders.setdefault(part, set()).add(whole)
        for line in lines:
            if line.what == "reinterpret" and line.buffer and line.becomes:
                self._holders.setdefault(line.becomes, set()).add(line.buffer)
            for part in (line.buffer or "", *line.parts) if line.aliases else ():
                self._holders.setdefault(part, set()).update(line.aliases)

    def is_one(self, one: str, other: str) -> bool:
        """True if one is the other's memory or a part of it; two parts of a third buffer are not."""
        one, other = self._home(one), self._home(other)
        return one == other or other in self._above(one) or one in self._above(other)

    def _home(self, buffer: str) -> str:
        seen = {buffer}
        while (home := self._same.get(buffer, buffer)) not in seen:
            seen.add(home)
            buffer = home
        return buffer

    def _above(self, buffer: str) -> set[str]:
        found: set[str] = set()
        waiting = [buffer]
        while waiting:
            homes = {self._home(one) for one in self._holders.get(waiting.pop(), ())} - found
            found |= homes
            waiting += homes
        return found


def memories(graph: CompiledGraph) -> Memories:
    """The buffers of `graph`."""
    rows = (row for row in graph.rows(Operation) if row.graph == graph.name and row.phase == "pre_fusion")
    return Memories(rows, (line for line in graph.rows(WrapperLine) if line.graph == graph.name))
