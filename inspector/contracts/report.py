"""What every format of a report has in common: the name of the contract, its changes, and paths below one root."""

import os
from collections.abc import Sequence
from typing import Final, NamedTuple

from inspect_compile.analysis.lock.check import Change
from inspect_compile.tables.text import one_line

TITLES: Final = {
    "graph_breaks": "graph break",
    "recompiles": "recompile",
    "fallback": "operator without generated code",
    "missed": "missed fusion",
    "fused": "fusion",
    "flops": "FLOPs",
    "bytes": "bytes moved",
    "peak": "peak memory",
    "cudagraphs": "CUDA graphs",
}
"""Metric → what a reader who does not know ours reads."""


class Report(NamedTuple):
    """The result of one check."""

    lock: str
    """Path of the contract, as the user typed it."""
    program: str
    changes: Sequence[Change]
    root: str
    """The folder that annotated paths are relative to: the repository's."""
    rules: int
    graphs: int
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    """What was not compared, and with which other versions the contract was made: a sentence each."""

    @property
    def primary(self) -> list[Change]:
        """The changes that do not merely follow from others."""
        return [one for one in self.changes if not one.follows]

    @property
    def following(self) -> int:
        """Number of the others."""
        return len(self.changes) - len(self.primary)


def title(change: Change) -> str:
    """`torch.compile: graph break`."""
    return f"torch.compile: {TITLES.get(change.metric, change.metric)}"


def path_of(change: Change, root: str) -> str:
    """The file of a change, relative to the root if it is below; empty if no line is known."""
    if change.where is None:
        return ""
    file = change.where.file
    start = f"{root.rstrip(os.sep)}{os.sep}"
    return one_line(file[len(start) :] if root and file.startswith(start) else file)


def line_of(change: Change) -> int:
    """Its line, at least 1."""
    return max(1, change.where.line) if change.where is not None else 1


def sentences(change: Change) -> list[str]:
    """What differs, the cause, and that the line is new."""
    found = [one_line(change.message)]
    if change.why:
        found.append(one_line(change.why))
    if change.is_new_line:
        found.append("the contract does not have this line")
    return found
