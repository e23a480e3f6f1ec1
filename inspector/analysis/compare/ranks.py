"""Which ranks of a run compiled the same, and where the others differ."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from inspect_compile.analysis.compare.content import Content, content
from inspect_compile.analysis.compare.differences import Difference, compare
from inspect_compile.analysis.compare.pairing import Pairing
from inspect_compile.analysis.compare.side_by_side import launches_of
from inspect_compile.analysis.dumps.parts import ProcessDump, as_compiled, ranks_text
from inspect_compile.analysis.dumps.run_state import run_state
from inspect_compile.analysis.overview.summary import recompiles
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, GraphBreak, Kernel
from inspect_compile.graph.kernels.launches import distinct


class RankSummary(msgspec.Struct, frozen=True, tag_field="fact", tag="rank"):
    """Figures of one rank. The first rows of `show ranks --json`."""

    rank: int
    pid: int
    status: str
    path: str
    """Path of its folder in the dump."""
    frames: int
    graphs: int
    kernels: int
    recompiles: int
    graph_breaks: int
    seconds: float | None
    """Time spent compiling graphs."""
    launches: int
    """Of one call of each graph, as are the next two."""
    bytes: int
    """Bytes that its kernels read and write, as far as known."""
    kernel_seconds: float | None
    """Measured; None if not all launches were."""
    same_as: int
    """The lowest rank that compiled the same."""
    unlike: tuple[int, ...] = ()
    """The ranks that it differs from: the largest group that compiled the same, if it is not in that."""


@dataclass(frozen=True)
class Agreement:
    """Which ranks compiled the same, and where the others differ from the majority."""

    groups: tuple[tuple[int, ...], ...]
    """Ranks that compiled the same; the largest group first, of equally large groups the one with the lowest rank."""
    differences: tuple[Difference, ...]
    """Differences of each later group from the first."""

    def group_of(self, rank: int) -> tuple[int, ...]:
        """The ranks that compiled the same as `rank`, itself included."""
        return next((group for group in self.groups if rank in group), (rank,))


def agreement(there: dict[int, ProcessDump]) -> Agreement:
    """Compare what the ranks compiled, each with the groups found so far."""
    groups: list[tuple[Content, list[int]]] = []
    for rank, part in sorted(there.items()):
        found = content(part.dump)
        group = next((members for other, members in groups if not compare(Pairing(other, found))), None)
        if group is None:
            groups.append((found, [rank]))
        else:
            group.append(rank)
    groups.sort(key=lambda group: (-len(group[1]), group[1][0]))
    differences = [
        difference
        for found, members in groups[1:]
        for difference in compare(Pairing(groups[0][0], found), (ranks_text(groups[0][1]), ranks_text(members)))
    ]
    return Agreement(tuple(tuple(members) for _, members in groups), tuple(differences))


def verdict_text(found: Agreement) -> str:
    """One sentence: whether the ranks agree."""
    count = sum(map(len, found.groups))
    if not found.differences:
        return f"All {count} ranks compiled the same." if count > 1 else "There is only one rank: nothing to compare."
    others = ranks_text(rank for group in found.groups[1:] for rank in group)
    counted = f"{len(found.differences)} difference{'s' * (len(found.differences) > 1)}"
    return f"{others.capitalize()} compiled something different from {ranks_text(found.groups[0])}: {counted}"


def rank_rows(dump: Dump) -> Iterator[msgspec.Struct]:
    """The figures of each rank, then the differences; nothing if the run has no ranks."""
    there = as_compiled(dump)
    if there:
        found = agreement(there)
        yield from summarize_ranks(there, found)
        yield from found.differences


def summarize_ranks(there: dict[int, ProcessDump], found: Agreement) -> list[RankSummary]:
    """The figures of each rank, in the order of the ranks."""
    return [summarize_rank(part, found) for _, part in sorted(there.items())]


def summarize_rank(part: ProcessDump, found: Agreement = Agreement((), ())) -> RankSummary:
    """The figures of one rank, and by `found` of which other ranks it compiled the same; without that, what launches
    cost is left out.
    """
    dump = part.dump
    graphs = dump.outermost()
    ends = [dump.graph_end(graph.graph) for graph in graphs]
    state = run_state(dump)
    rank = part.rank if part.rank is not None else -1
    group = found.group_of(rank)
    sums = [launches_of(dump, graph.graph) for graph in graphs] if found.groups else []
    times = [one.seconds for one in sums if one.launches]
    measured = [one for one in times if one is not None]
    return RankSummary(
        rank=rank,
        pid=dump.run.pid,
        status=dump.run.status if state.is_growing or dump.run.status != "running" else "killed",
        path=dump.root.name,
        frames=len({frame.graph for frame in dump.rows(Frame)}),
        graphs=len(graphs),
        kernels=sum(len(distinct(dump.rows(Kernel, graph.graph))) for graph in graphs),
        recompiles=recompiles(dump),
        graph_breaks=len(dump.rows(GraphBreak)),
        seconds=round(sum(end.seconds for end in ends if end is not None), 6) if any(ends) else None,
        launches=sum(one.launches for one in sums),
        bytes=sum(one.bytes for one in sums),
        kernel_seconds=sum(measured) if measured and len(measured) == len(times) else None,
        same_as=group[0],
        unlike=found.groups[0] if found.groups and group != found.groups[0] else (),
    )
