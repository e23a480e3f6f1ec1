"""What a process does not record because of a limit: later graphs, and a frame compiled over and over. A limit drops
volume: what stopped or interrupted a compile is recorded all the same.
"""

import os
from typing import Final

from inspect_compile.child.limits.stops import Stops, is_end
from inspect_compile.dump import paths
from inspect_compile.facts import Fact, Frame, Graph, GraphBreak, GraphEnd, Omission, Recompile
from inspect_compile.facts.compile_id import compile_number, frame_id

COMPILES: Final = 8
"""Number of compiles of one frame that are recorded: torch's own default limit."""


class Limits:
    """Decides for each fact and file whether it is left out, and keeps count."""

    def __init__(self, graphs: int | None, compiles: int | None = COMPILES) -> None:
        """So many `graphs` of the process and so many `compiles` of a frame are recorded; None: all."""
        self._graphs = graphs
        self._compiles = compiles
        self._kept: set[str] = set()
        self._refused: set[str] = set()
        """Folders of graphs that are left out."""
        self._later = 0
        """Number of graphs beyond the limit."""
        self._again: dict[str, set[int]] = {}
        """Frame id → its compiles beyond the limit."""
        self._frames: dict[str, str] = {}
        """Frame id → its name for the user."""
        self._last: dict[str, Recompile] = {}
        """Frame id → the last recompile that was left out."""
        self._without: set[str] = set()
        """Attempts that gave no compile."""
        self._told: set[str] = set()
        """Compiles with a graph break that is recorded beyond the limit."""
        self._stops = Stops()

    def refuses(self, fact: Fact) -> bool:
        """True if `fact` is left out."""
        if fact.per_graph and self._graphs is None and not self._refused:
            return False
        if fact.per_graph or isinstance(fact, GraphEnd):
            return self.refuses_file(paths.graph_folder(fact.graph))
        if isinstance(fact, Graph):
            folder = paths.graph_folder(fact.graph)
            if folder not in self._refused and fact.compile_id is not None and self._is_again(fact.compile_id):
                self._refused.add(folder)
            return self.refuses_file(folder)
        if self.keeps(fact):
            return False
        if isinstance(fact, Frame | Recompile):
            place = f"{os.path.basename(fact.file)}:{fact.line}"
            self._frames.setdefault(frame_id(fact.graph), f"{fact.function} {place}")
        if isinstance(fact, Recompile) and self._is_beyond(fact.graph):
            self._last[frame_id(fact.graph)] = fact
        return self._is_again(fact.graph)

    def keeps(self, fact: Fact) -> bool:
        """Does it say for the first time what stopped or interrupted a compile of its frame? No limit drops it."""
        if is_end(fact):
            self._is_none(fact.graph)
        if not self._stops.is_new(fact):
            return isinstance(fact, Frame) and fact.graph in self._told
        if isinstance(fact, GraphBreak):
            self._told.add(fact.graph)
        return True

    def held_back(self, fact: Fact) -> Recompile | None:
        """What led to a compile beyond the limit that was stopped or interrupted: why no earlier one fitted."""
        if not isinstance(fact, Frame | GraphBreak) or not self._is_beyond(fact.graph):
            return None
        last = self._last.get(frame_id(fact.graph))
        if last is None or last.graph != fact.graph:
            return None
        return self._last.pop(frame_id(fact.graph))

    def _is_none(self, compile_id: str) -> None:
        """An attempt to compile a frame gave nothing: it does not count as a compile."""
        self._without.add(compile_id)
        again = self._again.get(frame_id(compile_id), set())
        again.discard(compile_number(compile_id) or 0)
        if not again:
            self._again.pop(frame_id(compile_id), None)

    @property
    def count(self) -> int:
        """Number of facts and files left out so far."""
        return self._later + sum(map(len, self._again.values()))

    def omissions(self) -> tuple[Omission, ...]:
        """What has been left out, for run.json."""
        found = []
        if self._later:
            graphs = f"{self._later:,} later graph{'s' * (self._later > 1)}"
            found.append(
                Omission(
                    what="graphs",
                    limit=f"--graphs {self._graphs}",
                    count=self._later,
                    message=f"--graphs {self._graphs}: {graphs} of this process not recorded",
                )
            )
        for frame, ids in self._again.items():
            name = self._frames.get(frame, f"frame {frame}")
            found.append(
                Omission(
                    what="compiles",
                    limit=f"{COMPILES} compiles of a frame",
                    count=len(ids),
                    graph=frame,
                    message=f"{name} was compiled {COMPILES + len(ids):,} times: the first {COMPILES} are recorded",
                )
            )
        return tuple(found)

    def refuses_file(self, folder: str) -> bool:
        """True if the files of the graph in this folder are left out."""
        if folder in self._refused:
            return True
        if self._graphs is None or folder in self._kept:
            return False
        if len(self._kept) < self._graphs:
            self._kept.add(folder)
            return False
        self._refused.add(folder)
        self._later += 1
        return True

    def _is_beyond(self, compile_id: str) -> bool:
        number = compile_number(compile_id)
        return self._compiles is not None and number is not None and number >= self._compiles

    def _is_again(self, compile_id: str) -> bool:
        if not self._is_beyond(compile_id):
            return False
        if compile_id not in self._without:
            self._again.setdefault(frame_id(compile_id), set()).add(compile_number(compile_id) or 0)
        return True
