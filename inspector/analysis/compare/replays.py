"""A recorded graph and its replays: figures of each compile, and its differences from the first."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import msgspec

from inspect_compile.analysis.compare.content import code, graph_content
from inspect_compile.analysis.compare.differences import Difference, compare_graphs
from inspect_compile.analysis.compare.second_compile import Agreement, agreement
from inspect_compile.analysis.dumps.parts import ProcessDump
from inspect_compile.analysis.dumps.parts import replays as replays_of
from inspect_compile.analysis.dumps.run_state import compile_status, run_state
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph, Kernel
from inspect_compile.graph import CompiledGraph, Graphs, grouped
from inspect_compile.graph.cost.kernel_traffic import KernelTraffic
from inspect_compile.graph.kernels.binaries import configurations, of_kernels
from inspect_compile.graph.kernels.launches import distinct
from inspect_compile.knowledge.origins import unknown_text

FIRST = "recorded"
"""The name of the first compile."""


class Counts(msgspec.Struct, frozen=True):
    """Figures of one compile, as in `Compiled`."""

    kernels: int
    groups: int | None
    read_bytes: int | None
    written_bytes: int | None
    registers: int | None = None
    spills: int | None = None

    @property
    def moved(self) -> int | None:
        """Bytes that its kernels read and write."""
        return None if self.read_bytes is None or self.written_bytes is None else self.read_bytes + self.written_bytes


class Compiled(msgspec.Struct, frozen=True, tag_field="fact", tag="replay"):
    """Figures of one compile of a graph. `show replays --json` prints these."""

    graph: str
    replay: int | None
    """Number of the replay; None for the first compile."""
    path: str
    """Path of its folder in the dump."""
    target: str
    """The GPU that it was compiled for, if that was not present."""
    config: dict[str, str]
    """Settings that were changed for it."""
    denied: tuple[tuple[str, str], ...]
    """Pairs that fusion had to keep apart."""
    status: str
    """compiled, failed or stopped; open if it never ended."""
    exception: str | None
    seconds: float | None
    kernels: int = 0
    groups: int | None = 0
    """Scheduler nodes after fusion; here and below None for the first compile in a log that does not say."""
    read_bytes: int | None = 0
    written_bytes: int | None = 0
    """Bytes that all kernel calls read and write, as far as known."""
    registers: int | None = None
    """Maximum registers per thread over its kernels; None without binaries."""
    spills: int | None = None
    """Bytes spilled by all kernels."""
    same_code: bool | None = None
    """Whether the generated code equals that of the first compile, up to kernel names; None if either has none."""
    first: Counts | None = None
    """Figures of the first compile; None for the first compile itself."""
    agreement: Agreement | None = None
    """How far what came of it is what a log has; None where the first compile was recorded itself."""

    @property
    def counts(self) -> Counts:
        """Its figures, to be compared with those of another compile."""
        return Counts(self.kernels, self.groups, self.read_bytes, self.written_bytes, self.registers, self.spills)


@dataclass(frozen=True)
class Replays:
    """One graph: its first compile and its replays."""

    first: Compiled
    again: tuple[tuple[Compiled, tuple[Difference, ...]], ...]
    """Each replay with its differences from the first compile."""


def name_of(row: Compiled) -> str:
    """`recorded`, `replay 1`."""
    return FIRST if row.replay is None else f"replay {row.replay}"


def replays(dump: Dump, graph: str | None = None, only: Collection[int] | None = None) -> list[Replays]:
    """The graphs that were compiled again, in order; optionally of `graph` alone, and only the replays in `only`."""
    parts = [part for number, part in replays_of(dump).items() if only is None or number in only]
    found = []
    for name in dict.fromkeys(part.dump.run.replay_of for part in parts):
        first = dump.graph(name)
        if first is None or graph not in (None, name):
            continue
        row = _compiled(dump, first, None, None)
        again = [_again(dump, first, row.counts, part) for part in parts if part.dump.run.replay_of == name]
        found.append(Replays(row, tuple(again)))
    return found


def replay_rows(graphs: Graphs, only: Collection[int] | None = None) -> Iterator[msgspec.Struct]:
    """The same as rows: the first compile, then each later one and its differences."""
    for found in replays(graphs.dump, graphs.name, only):
        yield found.first
        for row, differ in found.again:
            yield row
            yield from differ


def _again(dump: Dump, first: Graph, counts: Counts, part: ProcessDump) -> tuple[Compiled, tuple[Difference, ...]]:
    graph = part.dump.graph(first.graph)
    if graph is None:
        run = part.dump.run
        row = Compiled(
            graph=first.graph,
            replay=part.replay,
            path=part.dump.root.name,
            target=run.target,
            config=run.config,
            denied=run.denied,
            status="failed",
            exception=run.exception,
            seconds=run.seconds,
            first=counts,
        )
        return row, ()
    ours, theirs = code(dump, first.graph), code(part.dump, graph.graph)
    row = _compiled(part.dump, graph, part.replay, None if ours is None or theirs is None else ours == theirs, counts)
    if dump.run.origin and row.status == "compiled":
        sides = CompiledGraph(dump, first.graph), CompiledGraph(part.dump, graph.graph)
        row = msgspec.structs.replace(row, agreement=agreement(*sides))
    devices = dump.run.target == row.target  # otherwise each node would differ by its device
    contents = [graph_content(where, of, devices=devices) for where, of in ((dump, first), (part.dump, graph))]
    differences = compare_graphs(contents[0], contents[1], (FIRST, name_of(row)))
    words = _kernel_words(dump, first.graph), _kernel_words(part.dump, graph.graph)
    return row, tuple(_with_costs(difference, *words) for difference in differences)


def _compiled(
    dump: Dump, graph: Graph, number: int | None, same_code: bool | None, counts: Counts | None = None
) -> Compiled:
    run, end, name = dump.run, dump.graph_end(graph.graph), graph.graph
    moved = CompiledGraph(dump, name).traffic.all()
    has_schedule, has_sizes = (not unknown_text(run.origin, table) for table in ("schedule", "traffic"))
    running = [rows[0] for rows in of_kernels(configurations(CompiledGraph(dump, name))).values()]
    registers = [row.registers for row in running if row.registers is not None]
    return Compiled(
        graph=name,
        replay=number,
        path=dump.root.name if number is not None else "",
        target=run.target,
        config=run.config,
        denied=run.denied,
        status=compile_status(end, is_growing=run_state(dump).is_growing),
        exception=end.exception if end is not None else run.exception,
        seconds=end.seconds if end is not None and not run.origin else None,
        kernels=len(distinct(dump.rows(Kernel, name))),
        groups=len(CompiledGraph(dump, name).groups) if has_schedule else None,
        read_bytes=sum(found.read for found in moved) if has_sizes else None,
        written_bytes=sum(found.written for found in moved) if has_sizes else None,
        registers=max(registers, default=None),
        spills=sum(row.spills or 0 for row in running) if registers else None,
        same_code=same_code,
        first=counts,
    )


def _kernel_words(dump: Dump, graph: str) -> dict[str, str]:
    """Kernel → its name, bytes that all its calls read and write, and registers."""
    sums = grouped(CompiledGraph(dump, graph).traffic.all(), lambda row: row.kernel)
    registers = {
        name: rows[0].registers for (_, name), rows in of_kernels(configurations(CompiledGraph(dump, graph))).items()
    }
    return {name: " ".join(_words(name, calls, registers.get(name))) for name, calls in sums.items()}


def _words(name: str, calls: list[KernelTraffic], registers: int | None) -> Iterator[str]:
    if all(row.is_known for row in calls):
        read, written = sum(row.read for row in calls), sum(row.written for row in calls)
        yield f"{name}  reads {read:,} bytes, writes {written:,}"
    else:
        yield f"{name}  its traffic is not known"
    if registers is not None:
        yield f"· {registers} registers"


def _with_costs(row: Difference, ours: dict[str, str], theirs: dict[str, str]) -> Difference:
    if row.kind != "kernels":
        return row
    a, b = (tuple(words.get(name, name) for name in side) for words, side in ((ours, row.a), (theirs, row.b)))
    return msgspec.structs.replace(row, a=a, b=b)
