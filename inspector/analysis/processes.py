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
    summary: RunSummary


class Rank(msgspec.Struct, frozen=True, tag_field="fact", tag="rank"):
    """One rank against the lowest one."""

    rank: int
    root: str
    summary: RunSummary
    differences: tuple[Difference, ...]
    """`{a}` in a message is the lowest rank, `{b}` this one. Of the lowest there are none."""


def processes(dump: Dump) -> list[Process]:
    """By rank; those that no launcher numbered come last."""
    return [Process(part, summarize_run(Dump(part.root))) for part in parts(dump.root)]


def compared(dump: Dump) -> list[Rank]:
    """Each rank of the run with what it compiled in another way than the lowest rank."""
    found = ranks(dump.root)
    lowest = next((Dump(part.root) for part in found.values()), None)
    compiles: list[Rank] = []
    for rank, part in found.items():
        own = Dump(part.root)
        differences = compare(lowest, own) if lowest is not None and compiles else []
        compiles.append(Rank(rank, str(part.root), summarize_run(own), tuple(differences)))
    return compiles
