"""Figures of a process in the text format that Prometheus reads from files (node_exporter's textfile collector)."""

import contextlib
import os
from collections import defaultdict
from pathlib import Path
from typing import Final

from inspect_compile.dump.whole_writes import write
from inspect_compile.facts import CacheLookup, Fact, FirstCall, Frame, KernelLookup, Recompile

_HELP: Final = {
    "compiles_total": "Frames that Dynamo compiled.",
    "compile_seconds_total": "Seconds that these compiles took, without backwards compiled later.",
    "recompiles_total": "Frames that were compiled again because a guard failed.",
    "limited_total": "Attempts that a limit on recompiles ended.",
    "failed_total": "Compiles that failed.",
    "first_calls_total": "First calls of compiled graphs.",
    "graph_cache_total": "Look-ups in torch's caches of compiled graphs.",
    "kernel_cache_total": "Look-ups in caches of compiled kernels.",
}
"""Name, without what all begin with → what it counts."""
_PREFIX: Final = "inspect_compile_"


class Metrics:
    """Counters of this process, and the file that has them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.forget()

    def forget(self) -> None:
        """In the child of a fork: it has a file of its own."""
        self._counts: defaultdict[tuple[str, str], float] = defaultdict(float)
        """Name and further labels → count."""

    @property
    def path(self) -> Path:
        """The file of this process."""
        return self._folder / f"inspect_compile_{os.getpid()}.prom"

    def saw(self, fact: Fact) -> None:
        """Count one fact."""
        counts = self._counts
        if isinstance(fact, Frame):
            if fact.status == "compiled":
                counts["compiles_total", ""] += 1
                counts["compile_seconds_total", ""] += fact.seconds
            counts["failed_total", ""] += fact.status == "failed"
            counts["limited_total", ""] += bool(fact.limit)
        elif isinstance(fact, Recompile):
            counts["recompiles_total", ""] += 1
        elif isinstance(fact, FirstCall):
            counts["first_calls_total", ""] += 1
        elif isinstance(fact, CacheLookup):
            counts["graph_cache_total", f',cache="{fact.cache}",outcome="{fact.outcome}"'] += 1
        elif isinstance(fact, KernelLookup):
            counts["kernel_cache_total", f',cache="{fact.cache}",outcome="{fact.outcome}"'] += 1

    def text(self, rank: int | None) -> str:
        """The file's text."""
        process = f'pid="{os.getpid()}"' + ("" if rank is None else f',rank="{rank}"')
        lines: list[str] = []
        for name, help_ in _HELP.items():
            rows = sorted((labels, count) for (one, labels), count in self._counts.items() if one == name)
            lines += [f"# HELP {_PREFIX}{name} {help_}", f"# TYPE {_PREFIX}{name} counter"]
            lines += [f"{_PREFIX}{name}{{{process}{labels}}} {count:.10g}" for labels, count in rows]
        return "\n".join(lines) + "\n"

    def write(self, rank: int | None) -> None:
        """Replace the file: who reads it sees the old or the new one. A disk that refuses changes nothing."""
        beside = self.path.with_suffix(f".{os.getpid()}.tmp")
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            write(beside, self.text(rank).encode())
            beside.replace(self.path)
