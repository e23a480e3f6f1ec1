"""The scheduler's operations of a graph before fusion, with what made them and what became of them."""

from collections import deque
from typing import Final

from inspect_compile.dump import paths
from inspect_compile.facts import Lowering, Operation
from inspect_compile.graph import CompiledGraph, Id

MOST_ANCESTORS: Final = 24
"""Maximum number of ancestors listed for one operation."""
_MOST_LOOKS = 20_000
"""Maximum number of operations visited to find the ancestors of one."""


class Operations:
    """The operations of a graph and of the graphs nested in it."""

    def __init__(self, graph: CompiledGraph) -> None:
        self.rows = graph.operations
        """In schedule order."""
        self.after = {Id(row.graph, member): row for row in graph.groups for member in row.members}
        """Graph and operation → the scheduler node after fusion that contains it."""
        self.makers = {Id(row.graph, name): row for row in graph.rows(Lowering) for name in row.operations}
        """Graph and operation → the lowering that made it."""
        self.writers = {Id(row.graph, buffer): row.name for row in self.rows for buffer in row.buffers}
        """Graph and buffer → the operation that writes it."""
        self._known = graph.operation_of
        graphs = dict.fromkeys(row.graph for row in self.rows)
        name, text = paths.IR_PRE_FUSION, graph.dump.text
        self._texts = {one: _by_name(text(one, paths.ir_text(name, one)) or "") for one in graphs}

    def text(self, row: Operation) -> str:
        """The operation as torch prints it."""
        return self._texts[row.graph].get(row.name, "")

    def body(self, row: Operation) -> list[str]:
        """Its loops as torch prints them; empty for an operation without loops."""
        text = self.text(row)
        start = text.find("class ")
        return text[start:].rstrip().split("\n") if start >= 0 else []

    def ancestors(self, row: Operation) -> set[str]:
        """Operations that must run before it, nearest first, up to MOST_ANCESTORS."""
        found: set[str] = set()
        waiting = deque(row.predecessors)
        left = _MOST_LOOKS
        while waiting and left > 0 and len(found) <= MOST_ANCESTORS + len(row.predecessors):
            name = waiting.popleft()
            if name not in found:
                found.add(name)
                before = self._known.get(Id(row.graph, name))
                if before is not None:
                    waiting += before.predecessors
                    left -= len(before.predecessors)
        return found


def _by_name(text: str) -> dict[str, str]:
    return {name: part for part in text.split("\n\n\n") if (name := part.lstrip("\n").partition(":")[0])}
