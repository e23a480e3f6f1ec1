"""Which compiles a dump holds that keeps the newest ones (`--keep`), and which must go. Knows no files.

What stopped or interrupted a compile stays, each reason once for a frame.
"""

import threading
from typing import NamedTuple

from inspect_compile.child.limits.stops import Stops
from inspect_compile.dump import paths
from inspect_compile.facts import Fact, Frame, Graph, Omission
from inspect_compile.facts.compile_id import compile_number, same_compile
from inspect_compile.facts.nesting import outermost


class Held(NamedTuple):
    """A compile of which there is something in the dump."""

    compile_id: str
    """Its name, without attempts."""
    graphs: set[str]
    """The outermost graphs that it has so far; the backward may be compiled much later."""
    stays: list[Fact]
    """What interrupted it, for the first time of its frame, and its outcome: these stay when it goes."""

    @property
    def is_first(self) -> bool:
        """Is it the first compile of its frame?"""
        return not compile_number(self.compile_id)


class Newest:
    """Watches the facts that go into a dump, and chooses those compiles that go out of it again.

    The first compile of each frame stays beside the newest `keep` recompiles: what is compiled again is explained by
    what has changed since. Only where the dump reaches its size do the oldest first compiles go, too.
    """

    def __init__(self, keep: int, size: str) -> None:
        """`size` is the dump's limit, as people write it."""
        self._keep = keep
        self._size = size
        self._lock = threading.Lock()
        self._held: dict[str, Held] = {}
        """Name of each compile → what there is of it, oldest first."""
        self._ended: dict[str, None] = {}
        """Recompiles that have ended, oldest first."""
        self._firsts: dict[str, None] = {}
        """First compiles that have ended."""
        self._stopped: dict[str, None] = {}
        """Attempts that gave no compile, each for another reason: they go only for the size, and do not count."""
        self._stops = Stops()
        self._dropped: set[str] = set()
        self._folders: set[str] = set()
        """Folders of the graphs that were dropped."""
        self._recompiles = 0
        self._frames = 0
        self._was_full = False

    @property
    def has_dropped(self) -> bool:
        """Has anything gone?"""
        return bool(self._dropped)

    def refuses(self, fact: Fact) -> bool:
        """Does this belong to a compile that was dropped?"""
        if not self._dropped:
            return False
        if fact.per_graph:
            return self.refuses_file(paths.graph_folder(fact.graph))
        name = (fact.compile_id or "") if isinstance(fact, Graph) else fact.graph
        return same_compile(name) in self._dropped and not self._stops.is_new(fact)

    def refuses_file(self, folder: str) -> bool:
        """The same for the files in the folder of a graph."""
        return folder in self._folders

    def saw(self, fact: Fact) -> list[Held]:
        """Take note of a fact that was recorded; returns what must go now, oldest first."""
        name = same_compile((fact.compile_id or "") if isinstance(fact, Graph) else fact.graph)
        if name is None or fact.per_graph:
            return []
        is_stop = self._stops.is_new(fact)
        with self._lock:
            if isinstance(fact, Graph):
                self._of(name).graphs.add(outermost(fact.graph))
            elif is_stop or (isinstance(fact, Frame) and self._of(name).stays):
                self._of(name).stays.append(fact)
            if not isinstance(fact, Frame):
                return []
            if is_stop:
                self._stopped[name] = None
                return []
            (self._firsts if self._of(name).is_first else self._ended)[name] = None
            beyond = list(self._ended)[: max(len(self._ended) - self._keep, 0)]
            return [self._out(name) for name in beyond]

    def _of(self, name: str) -> Held:
        return self._held.setdefault(name, Held(name, set(), []))

    def oldest(self) -> Held | None:
        """What must go because the dump has reached its size; None if there is only the newest, and what is at work."""
        with self._lock:
            self._was_full = True
            name = next(iter(self._ended), None) if len(self._ended) > 1 else None
            if name is None and len(self._firsts) + len(self._ended) > 1:
                name = next(iter(self._firsts), None)
            if name is None:
                name = next((one for one in self._stopped if self._held[one].graphs), None)
            return None if name is None else self._out(name)

    def _out(self, name: str) -> Held:
        held = self._held.pop(name)
        self._ended.pop(name, None)
        self._firsts.pop(name, None)
        self._dropped.add(name)
        self._folders.update(map(paths.graph_folder, held.graphs))
        if name in self._stopped:
            del self._stopped[name]
            return held
        self._frames += held.is_first
        self._recompiles += not held.is_first
        return held

    def omissions(self) -> tuple[Omission, ...]:
        """What is no longer there, for run.json."""
        found = []
        limits = f"--keep {self._keep}" + (f", --max-dump {self._size}" if self._was_full else "")
        if self._recompiles:
            known = self._recompiles + len(self._ended)
            message = f"the newest {len(self._ended):,} of {known:,} recompiles are kept; earlier ones were dropped"
            found.append(
                Omission(what="compiles", limit=limits, count=self._recompiles, message=f"{limits}: {message}")
            )
        if self._frames:
            frames = "a function" if self._frames == 1 else f"{self._frames:,} functions"
            message = f"--max-dump {self._size}: the first compile of {frames} was dropped"
            found.append(Omission(what="frames", limit=f"--max-dump {self._size}", count=self._frames, message=message))
        return tuple(found)
