"""The processes of one run, and how the compiles of its ranks differ."""

from typing import NamedTuple

import msgspec

from inspect_compile.analysis.compare import Difference, compare
from inspect_compile.analysis.summary import RunSummary, summarize_run
from inspect_compile.dump import Dump
from inspect_compile.dump.parts import Part, parts, ranks


class Process(NamedTuple):
    """A process other than the one whose facts stand at the top of the dump."""

    part: Part

    def summary(self) -> RunSummary:
        """What it compiled, read from its part."""
        return summarize_run(Dump(self.part.root))


class Rank(msgspec.Struct, frozen=True, tag_field="fact", tag="rank"):
    """One rank against the lowest one."""

    rank: int
    root: str
    summary: RunSummary
    differences: tuple[Difference, ...]
    """`{a}` in a message is the lowest rank, `{b}` this one. Of the lowest there are none."""


def processes(dump: Dump) -> list[Process]:
    """By rank; those that no launcher numbered come last."""
    return [Process(part) for part in parts(dump.root)]


def compared(dump: Dump) -> list[Rank]:
    """Each rank of the run with what it compiled in another way than the lowest rank."""
    lowest: Dump | None = None
    found = []
    for rank, part in ranks(dump.root).items():
        own = Dump(part.root)
        differences = compare(lowest, own) if lowest is not None else []
        lowest = lowest or own
        found.append(Rank(rank, str(part.root), summarize_run(own), tuple(differences)))
    return found
