"""The processes of one run: which ranks there are, and which of them compiled the same."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from inspect_compile.analysis.compare import Difference, compare
from inspect_compile.analysis.content import Content, content
from inspect_compile.analysis.graphs import outermost
from inspect_compile.analysis.launches import distinct
from inspect_compile.analysis.run_state import run_state
from inspect_compile.analysis.summary import recompiles
from inspect_compile.dump import Dump, paths
from inspect_compile.errors import CommandError
from inspect_compile.facts import Frame, Graph, GraphBreak, Kernel


@dataclass(frozen=True)
class Part:
    """What one process of a run left, in the dump of the run or in a folder of it."""

    dump: Dump
    rank: int | None
    """None for a process that is no rank, and for those that a rank started."""
    name: str
    """`rank 0`, `process 4711`."""


class RankSummary(msgspec.Struct, frozen=True, tag_field="fact", tag="rank"):
    """One rank in a few numbers. The first rows of `show ranks --json`."""

    rank: int
    pid: int
    status: str
    path: str
    """Its folder in the dump."""
    frames: int
    graphs: int
    kernels: int
    recompiles: int
    graph_breaks: int
    seconds: float | None
    """Spent compiling graphs."""
    same_as: int
    """The first rank that compiled the same."""


@dataclass(frozen=True)
class Agreement:
    """Which ranks compiled the same, and where the others differ from the most of them."""

    groups: tuple[tuple[int, ...], ...]
    """Ranks that compiled the same; the largest group first, of equal ones that with the lowest rank."""
    differences: tuple[Difference, ...]
    """Of each later group against the first."""

    def same_as(self, rank: int) -> int:
        """The first rank that compiled the same."""
        return next(group[0] for group in self.groups if rank in group)


def parts(dump: Dump) -> list[Part]:
    """The other processes of a run: ranks in order, then those that are none."""
    found = [_part(path) for path in dump.other_processes]
    return sorted(found, key=lambda part: (part.rank is None, part.rank or 0, part.dump.root.name))


def ranks(dump: Dump) -> dict[int, Part]:
    """The ranks of a run."""
    return {part.rank: part for part in parts(dump) if part.rank is not None}


def is_only_parts(dump: Dump) -> bool:
    """Did the first process of the run compile nothing, and others did?"""
    return bool(dump.other_processes) and not dump.rows(Graph) and not dump.rows(Frame)


def of_rank(dump: Dump, rank: int) -> Dump:
    """The part of one rank; CommandError where there is none."""
    there = ranks(dump)
    if rank in there:
        return there[rank].dump
    if not there and dump.run.rank == rank:
        return dump
    if not there:
        told = "it is of one process" if dump.run.rank is None else f"it is of rank {dump.run.rank}"
        raise CommandError(f"--rank {rank}: no ranks in {dump.root}, {told}; leave --rank out")
    raise CommandError(f"--rank {rank}: no such rank in {dump.root}; there are: {numbers_text(there)}")


def agreement(there: dict[int, Part]) -> Agreement:
    """Compare what the ranks compiled, each with the groups found so far."""
    groups: list[tuple[Content, list[int]]] = []
    for rank, part in sorted(there.items()):
        found = content(part.dump)
        group = next((members for other, members in groups if not compare(other, found)), None)
        if group is None:
            groups.append((found, [rank]))
        else:
            group.append(rank)
    groups.sort(key=lambda group: (-len(group[1]), group[1][0]))
    differences = [
        difference
        for found, members in groups[1:]
        for difference in compare(groups[0][0], found, (ranks_text(groups[0][1]), ranks_text(members)))
    ]
    return Agreement(tuple(tuple(members) for _, members in groups), tuple(differences))


def summarize_rank(part: Part, same_as: int) -> RankSummary:
    """One rank in a few numbers."""
    dump = part.dump
    graphs = outermost(dump)
    ends = [dump.graph_end(graph.graph) for graph in graphs]
    state = run_state(dump)
    return RankSummary(
        rank=part.rank if part.rank is not None else -1,
        pid=dump.run.pid,
        status=dump.run.status if state.is_growing or dump.run.status != "running" else "killed",
        path=dump.root.name,
        frames=len({frame.graph for frame in dump.rows(Frame)}),
        graphs=len(graphs),
        kernels=sum(len(distinct(dump.rows(Kernel, graph.graph))) for graph in graphs),
        recompiles=recompiles(dump),
        graph_breaks=len(dump.rows(GraphBreak)),
        seconds=round(sum(end.seconds for end in ends if end is not None), 6) if any(ends) else None,
        same_as=same_as,
    )


def ranks_text(members: Iterable[int]) -> str:
    """`rank 0`, `ranks 1-3, 5`."""
    listed = sorted(members)
    return f"rank{'s' * (len(listed) != 1)} {numbers_text(listed)}"


def numbers_text(members: Iterable[int]) -> str:
    """`0`, `0-3, 5`: numbers that follow each other as a range."""
    runs: list[list[int]] = []
    for number in sorted(members):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _part(path: Path) -> Part:
    dump = Dump(path)
    number = path.name.removeprefix(paths.RANK)
    if path.name.startswith(paths.RANK) and number.isdecimal():
        return Part(dump, int(number), f"rank {int(number)}")
    return Part(dump, None, path.name.replace("_", " ").replace("-pid ", ", process "))
