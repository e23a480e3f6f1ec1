"""A Writer that knows when to begin, when to stop, and what it was given."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from inspect_compile.dump import Writer, paths
from inspect_compile.facts import Fact, Frame, Graph, GraphEnd, Kernel


class Tally:
    """What was recorded, for the last words. Plain values."""

    def __init__(self) -> None:
        self.facts: Counter[type[Fact]] = Counter()
        self.graphs = 0
        """Graphs that went into Inductor, nested ones not counted."""
        self._kernels: set[tuple[str, str]] = set()
        self.failure: str | None = None
        """The exception of the last compile that failed."""

    def add(self, fact: Fact) -> None:
        """Count one fact."""
        self.facts[type(fact)] += 1
        if isinstance(fact, Graph):
            self.graphs += "/" not in fact.graph
        elif isinstance(fact, Kernel):
            self._kernels.add((fact.graph, fact.name))
        elif isinstance(fact, GraphEnd) and fact.status == "failed":
            self.failure = fact.exception
        elif isinstance(fact, Frame) and fact.status == "failed":
            self.failure = self.failure or fact.reason

    @property
    def kernels(self) -> int:
        """Kernels of all graphs; one that is called several times counts once in its graph."""
        return len(self._kernels)


class Recorder(Writer):
    """Writes while it is open, and calls `first` before the first thing that reaches the disk.

    So a process that compiles nothing leaves nothing. At most `graphs_limit` graphs are kept; `refused` has later ones.
    """

    def __init__(
        self, root: Path, *, first: Callable[[], None], bytes_limit: int | None = None, graphs_limit: int | None = None
    ) -> None:
        super().__init__(root, bytes_limit=bytes_limit)
        self._first = first
        self._graphs_limit = graphs_limit
        self._renew()

    def _renew(self) -> None:
        self.is_open = True
        self.has_begun = False
        self.tally = Tally()
        self.refused: set[str] = set()
        """Folders of the graphs that came after the limit."""
        self._kept: set[str] = set()

    def begin(self) -> None:
        """Call `first` now, unless it has been called."""
        if not self.has_begun:
            self.has_begun = True
            self._first()

    def add(self, fact: Fact) -> None:
        """Keep `fact`, if it is still wanted."""
        if not self.is_open or (self._graphs_limit is not None and self._comes_late(fact)):
            return
        self.tally.add(fact)
        super().add(fact)

    def flush(self) -> None:
        """Append everything that waits."""
        if self._waiting:
            self.begin()
        super().flush()

    def text(self, name: str, text: str) -> None:
        """Write the file `name`, if it is still wanted."""
        if self.is_open and not (name.startswith(f"{paths.GRAPHS}/") and self._refuses(name.split("/")[1])):
            self.begin()
            super().text(name, text)

    def close(self) -> None:
        """Flush, and take nothing more."""
        self.flush()
        self.is_open = False

    def reopen(self, root: Path) -> None:
        """Write another dump, or another part of one: what waited is dropped. Also for the child of a fork."""
        self.after_fork(root)
        self.trouble = None
        self._renew()

    def _comes_late(self, fact: Fact) -> bool:
        return (fact.per_graph or isinstance(fact, Graph | GraphEnd)) and self._refuses(fact.graph)

    def _refuses(self, graph: str) -> bool:
        if self._graphs_limit is None:
            return False
        folder = paths.graph_folder(graph)
        if folder in self._kept:
            return False
        if len(self._kept) < self._graphs_limit:
            self._kept.add(folder)
            return False
        self.refused.add(folder)
        return True
