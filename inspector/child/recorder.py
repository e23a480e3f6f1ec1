"""A Writer that knows when to begin and when to stop, and counts what it was given."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from inspect_compile.at_start import AtStart
from inspect_compile.child.limits.first import COMPILES, Limits
from inspect_compile.child.limits.newest import Held, Newest
from inspect_compile.child.limits.sizes import size_text
from inspect_compile.child.live.live import Live
from inspect_compile.child.run_config import RunConfig
from inspect_compile.dump import Writer, paths
from inspect_compile.facts import (
    CacheLookup,
    Fact,
    Frame,
    Graph,
    GraphEnd,
    GuardedCalls,
    Hook,
    Kernel,
    Omission,
    Remark,
)
from inspect_compile.knowledge.overview.nothing import NOT_COMPILED, first_line

_TOLD = (Graph, Kernel, CacheLookup, GraphEnd, Frame, Remark)
"""Facts that are counted."""


class Tally:
    """Counts of what was recorded, for the closing lines. Plain values."""

    def __init__(self, *, keeps_caches: bool = True) -> None:
        self.keeps_caches = keeps_caches
        """Whether torch's caches work as in a plain run."""
        self.facts: Counter[type[Fact]] = Counter()
        self.graphs = 0
        """Number of graphs that went into Inductor, without nested ones."""
        self._kernels: set[tuple[str, str]] = set()
        self.is_cached = False
        """Whether torch took a graph from one of its caches."""
        self.passed_over = 0
        """Look-ups in them that may have found something if we did not watch."""
        self.failure: str | None = None
        """The exception of the last compile that failed."""
        self.compiled_frames = 0
        self.skipped: dict[tuple[str, str], None] = {}
        """Function of each frame that Dynamo skipped, and the first line of why: a set in order."""
        self.refused: list[str] = []
        """Why graphs were not compiled for a target."""

    def add(self, fact: Fact) -> None:
        """Count one fact."""
        self.facts[type(fact)] += 1
        if not isinstance(fact, _TOLD):
            return
        if isinstance(fact, Graph):
            self.graphs += "/" not in fact.graph
        elif isinstance(fact, Kernel):
            self._kernels.add((fact.graph, fact.name))
        elif isinstance(fact, CacheLookup):
            self.is_cached = self.is_cached or fact.outcome == "hit"
            self.passed_over += fact.outcome == "passed over" and fact.stored is not False
        elif isinstance(fact, GraphEnd) and fact.status == "failed":
            self.failure = fact.exception
        elif isinstance(fact, Frame):
            self._add_frame(fact)
        elif isinstance(fact, Remark) and fact.code in NOT_COMPILED:
            self.refused.append(fact.message)

    def _add_frame(self, frame: Frame) -> None:
        if frame.status == "failed":
            self.failure = self.failure or frame.reason
        elif frame.status == "skipped" and frame.reason:
            self.skipped[frame.function, first_line(frame.reason)] = None
        self.compiled_frames += frame.status == "compiled"

    @property
    def kernels(self) -> int:
        """Number of kernels in all graphs; one that is called several times counts once in its graph."""
        return len(self._kernels)


class Recorder(Writer):
    """Writes while it is open, and calls `first` before anything reaches the disk.

    So a process that compiles nothing leaves nothing. `limited` is called when something is left out because of a
    limit, and again whenever the number has doubled; `pending` adds what was not given as a fact yet, before a flush.
    """

    def __init__(
        self,
        root: Path,
        *,
        first: Callable[[], None],
        limited: Callable[[], None] = lambda: None,
        pending: Callable[[], None] = lambda: None,
        config: RunConfig = RunConfig(),  # noqa: B008 - it is frozen
        every_compile: bool = False,
    ) -> None:
        """`every_compile`: also those that a frame has beyond the limit, as of one that is compiled again."""
        super().__init__(root, bytes_limit=config.max_bytes)
        self._first = first
        self._limited = limited
        self._pending = pending
        self._config = config
        self._every_compile = every_compile
        self.touch: Callable[[], None] = lambda: None
        """Called with each fact."""
        self.live: Live | None = None
        """What is told of each fact while the program runs, also of those that a limit excludes."""
        self._renew()

    def _renew(self) -> None:
        self.is_open = True
        self.has_begun = False
        self.tally = Tally(keeps_caches=self._config.cache == "keep")
        keep, size = self._config.keep, self._bytes_limit
        self._limits = Limits(self._config.graphs, None if self._every_compile or keep is not None else COMPILES)
        self._newest = None if keep is None else Newest(keep, "" if size is None else size_text(size))
        self._left_out = 1
        """Number of omissions at which they are reported next."""
        self._compiling: dict[str, float] = {}
        """Graphs that are being compiled, with their start times."""
        self._has_stopped = False

    def omissions(self) -> tuple[Omission, ...]:
        """What is not recorded, and because of which limit."""
        found = (*self._limits.omissions(), *(() if self._newest is None else self._newest.omissions()))
        if not self._config.keeps_texts:
            message = "--level facts: FX graphs and IR are in the tables only, and no graph can be replayed"
            found = (*found, Omission(what="texts", limit="--level facts", message=message))
        if not self.is_full or self._bytes_limit is None:
            return found
        size = size_text(self._bytes_limit)
        message = f"the dump reached its limit of {size} (--max-dump): later facts are not in it"
        return (*found, Omission(what="later", limit=f"--max-dump {size}", message=message))

    @property
    def is_whole(self) -> bool:
        """Whether nothing was lost, left out or dropped because of a limit: tables have only grown."""
        has_dropped = self._newest is not None and self._newest.has_dropped
        return super().is_whole and self.is_open and not self._limits.count and not has_dropped

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing yet but what was told of our own hooks: a process that compiles nothing."""
        return not self.has_begun and not (self.tally.facts.keys() - {Hook})

    def begin(self) -> None:
        """Call `first` now, unless it was called already."""
        if not self.has_begun:
            self.has_begun = True
            self._first()

    def add(self, fact: Fact) -> None:
        """Add `fact`, unless a limit excludes it."""
        self.touch()
        if self.live is not None and self.is_open:
            self.live.saw(fact)
        if not self._wants(fact):
            return
        if (recompile := self._limits.held_back(fact)) is not None:
            self.tally.add(recompile)
            super().add(recompile)
        if isinstance(fact, Graph) and "/" not in fact.graph:
            self._compiling[fact.graph] = AtStart.perf_counter()
        elif isinstance(fact, GraphEnd):
            self._compiling.pop(fact.graph, None)
        self.tally.add(fact)
        super().add(fact)
        if self._newest is not None:
            if isinstance(fact, Frame):
                self.flush()  # of what may be dropped nothing waits
            if beyond := self._newest.saw(fact):
                self._drop(beyond)

    def add_batch(self, batch: list[Fact]) -> None:
        """Add facts of one kind and one graph, unless a limit excludes them."""
        if self._wants(batch[0]):
            self.tally.facts[type(batch[0])] += len(batch)
            super().add_batch(batch)

    def _wants(self, fact: Fact) -> bool:
        if not self.is_open:
            return False
        if self.is_full:
            return isinstance(fact, Hook | GuardedCalls) or self._limits.keeps(fact)
        if self._newest is not None and self._newest.refuses(fact):
            return False
        if not self._limits.refuses(fact):
            return True
        if self._limits.count >= self._left_out:
            self._left_out = 2 * self._limits.count
            self._limited()
        return False

    def flush(self) -> None:
        """Append everything that is pending."""
        if self.is_empty:
            return
        if self._waiting:
            self.begin()
        self._pending()
        super().flush()
        self._stop_if_full()

    def file(self, name: str, data: bytes) -> None:
        """Write the file `name`, unless a limit excludes it."""
        folder = "/".join(name.split("/")[:2])
        if (
            not self.is_open
            or self.is_full
            or (name.startswith(f"{paths.GRAPHS}/") and self._limits.refuses_file(folder))
            or (self._newest is not None and self._newest.refuses_file(folder))
        ):
            return
        self.begin()
        super().file(name, data)
        self._stop_if_full()

    def _drop(self, beyond: Sequence[Held]) -> None:
        """Take compiles out of the dump again, and record how many."""
        self.drop([held.compile_id for held in beyond], [graph for held in beyond for graph in sorted(held.graphs)])
        for held in beyond:
            for fact in held.stays:
                super().add(fact)
        self._limited()

    def _make_room(self) -> bool:
        oldest = None if self._newest is None else self._newest.oldest()
        if oldest is not None:
            self._drop([oldest])
        return oldest is not None

    def configure(self, config: RunConfig) -> None:
        """Record so from the next dump on."""
        self._config = config
        self._bytes_limit = config.max_bytes

    def close(self) -> None:
        """Flush, and accept nothing more."""
        self.flush()
        self.is_open = False

    def reopen(self, root: Path) -> None:
        """Write to another dump or part: pending facts are dropped. Also for the child of a fork."""
        self.after_fork(root)
        self._renew()

    def _stop_if_full(self) -> None:
        if not self.is_full or self._has_stopped:
            return
        self._has_stopped = True
        for graph, began in self._compiling.items():
            super().add(GraphEnd(graph=graph, status="stopped", seconds=round(AtStart.perf_counter() - began, 6)))
        super().flush()
        self._limited()
