"""Kernels that torch chooses a configuration for when they are first launched, after their graph has been compiled."""

from collections.abc import Callable, Iterable
from typing import Final


class Undecided:
    """Kernels of this process that wait for their first launch."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[str]] = {}
        """Graph → its kernels."""
        self.listeners: list[Callable[[str], None]] = []
        """Called with a graph when the last of its kernels is decided."""

    def add(self, graph: str, kernel: str) -> None:
        """A kernel has several configurations."""
        self._waiting.setdefault(graph, set()).add(kernel)

    def decided(self, graph: str, kernel: str) -> None:
        """torch has chosen one."""
        kernels = self._waiting.get(graph, set())
        if kernel not in kernels:
            return
        kernels.discard(kernel)
        if not kernels:
            del self._waiting[graph]
            for listener in self.listeners:
                listener(graph)

    def of(self, graphs: Iterable[str]) -> tuple[str, ...]:
        """The kernels of these graphs that wait."""
        return tuple(sorted(kernel for graph in graphs for kernel in self._waiting.get(graph, ())))


UNDECIDED: Final = Undecided()
